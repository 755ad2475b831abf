"""The providers: who can be used, the model servers of this machine, and keys that do not work."""

from hermes.app.survey import survey
from hermes.cli._checks import Finding, Found, Group, Scene, ok


async def _providers(scene: Scene) -> Found:
    offers = await survey(scene.runtime.chooser, fresh=scene.online, live=scene.online)
    found = [
        Finding(
            "ok",
            f"{offer.reason}: use it with `-m {offer.name}/{offer.default_model}`",
            check="local server",
        )
        for offer in offers
        if offer.is_local_server
    ]
    broken = [
        Finding("warning", f"{offer.name}: {offer.reason}", offer.fix, check="provider")
        for offer in offers
        if offer.key and not offer.usable
    ]
    usable = ", ".join(offer.name for offer in offers if offer.usable)
    return [ok(f"can be used: {usable}"), *found, *broken]


GROUP = Group(title="providers", place=4, checks={"providers": _providers})
