"""Signature Version 4, made by botocore with the credentials its own chain finds."""

import re
from functools import cache

import msgspec
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import BotoCoreError
from botocore.session import Session

from hermes.errors import NotConfigured
from hermes.protocols import HttpRequest

_HINT = (
    "run `aws configure`, or set `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, "
    "or set `AWS_BEARER_TOKEN_BEDROCK`"
)
_SERVICE = "bedrock"
_DEFAULT_REGION = "us-east-1"
_REGION = re.compile(r"\bbedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.(?:[a-z0-9-]+\.)*(?:amazonaws|api\.aws)")


def sign(request: HttpRequest) -> HttpRequest:
    """The request with an `Authorization` header; raises `NotConfigured` without credentials."""
    try:
        session = _session()
        credentials = _credentials(session)
        unsigned = AWSRequest(request.method, request.url, dict(request.headers), request.body)
        SigV4Auth(credentials, _SERVICE, _region(request.url, session)).add_auth(unsigned)
    except BotoCoreError as error:
        raise NotConfigured(f"the AWS credentials cannot be used: {error}", hint=_HINT) from error
    return msgspec.structs.replace(request, headers=dict(unsigned.headers.items()))


@cache
def _session() -> Session:
    """One chain for the process: it remembers what it found and renews what expires."""
    return Session()


def _credentials(session: Session) -> Credentials:
    found = session.get_credentials()
    if found is None:
        raise NotConfigured("there are no AWS credentials", hint=_HINT)
    return found.get_frozen_credentials()


def _region(url: str, session: Session) -> str:
    """The region in the host; a host that has none, such as a proxy's, is signed for the user's own."""
    found = _REGION.search(url.partition("://")[2].partition("/")[0])
    return found[1] if found else session.get_config_variable("region") or _DEFAULT_REGION
