"""Amazon Bedrock: any of its models over Converse, with AWS credentials or a Bedrock API key.

With a key, requests carry it; without one they are signed (`signing`) with the credentials that AWS tools
use, which takes botocore. The base URL holds the region.
"""

from hermes import discover
from hermes.errors import NotConfigured
from hermes.protocols import HttpRequest, Provider


def _sign(request: HttpRequest) -> HttpRequest:
    """The request as the service accepts it; botocore is loaded when the first one is signed."""
    try:
        signing = discover.module("hermes.providers.bedrock.signing")
    except ModuleNotFoundError as error:
        raise NotConfigured(
            "requests to Amazon Bedrock are signed with `botocore`, which is not installed",
            hint='run `pip install "hermes[bedrock]"`, or set `AWS_BEARER_TOKEN_BEDROCK`',
        ) from error
    signed: HttpRequest = signing.sign(request)
    return signed


PROVIDER = Provider(
    name="bedrock",
    title="Amazon Bedrock",
    api_mode="bedrock_converse",
    base_url="https://bedrock-runtime.us-east-1.amazonaws.com",
    aliases=("aws", "aws-bedrock", "amazon-bedrock", "amazon"),
    rank=0,
    base_url_env=("BEDROCK_BASE_URL",),
    key_env=("AWS_BEARER_TOKEN_BEDROCK",),
    key_required=False,
    models_path="",
    caches=True,
    sign=_sign,
)
