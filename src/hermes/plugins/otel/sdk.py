"""The same for OpenTelemetry: spans and metrics through the providers that the program has set up."""

from collections.abc import Sequence
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Link, Span, StatusCode

from .names import METRICS
from .sinks import Attributes

try:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
except ModuleNotFoundError:
    OTLPMetricExporter = OTLPSpanExporter = None

SCOPE = "hermes"


def connect() -> "SdkSink | None":
    """The providers of this program; without any, those of OTLP; None when that is not installed either."""
    if isinstance(trace.get_tracer_provider(), TracerProvider):
        return SdkSink(trace.get_tracer_provider(), metrics.get_meter_provider())
    if OTLPSpanExporter is None:
        return None
    tracers = TracerProvider()
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return SdkSink(tracers, MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())]))


class SdkSink:
    """Spans as the SDK makes them. Parents are named one by one: callbacks run in threads of their own."""

    def __init__(self, tracers: trace.TracerProvider, meters: metrics.MeterProvider) -> None:
        self._tracer = tracers.get_tracer(SCOPE)
        meter = meters.get_meter(SCOPE)
        self._metrics = {name: meter.create_histogram(name, unit) for name, unit in METRICS.items()}

    def open(self, name: str, attributes: Attributes, at: float) -> "SdkSpan":
        return SdkSpan(self._tracer.start_span(name, attributes=attributes, start_time=_nanos(at)))

    def span(
        self,
        name: str,
        attributes: Attributes,
        *,
        began: float,
        ended: float,
        within: Any = None,
        after: Any = None,
        error: str = "",
        notes: Sequence[tuple[str, Attributes]] = (),
    ) -> "SdkSpan":
        made = self._tracer.start_span(
            name,
            context=trace.set_span_in_context(within.span) if within else None,
            links=[Link(after.span.get_span_context())] if after else (),
            attributes=attributes,
            start_time=_nanos(began),
        )
        for title, told in notes:
            made.add_event(title, told, timestamp=_nanos(began))
        span = SdkSpan(made)
        span.end({}, error, ended)
        return span

    def measure(self, metric: str, value: float, attributes: Attributes, at: float) -> None:
        self._metrics[metric].record(value, attributes)


class SdkSpan:
    """A span of an `SdkSink`."""

    def __init__(self, span: Span) -> None:
        self.span = span

    def end(self, attributes: Attributes, error: str, at: float) -> None:
        self.span.set_attributes(attributes)
        if error:
            self.span.set_status(StatusCode.ERROR)
        self.span.end(_nanos(at))


def _nanos(seconds: float) -> int:
    return int(seconds * 1e9)
