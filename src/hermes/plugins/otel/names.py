"""The names of the semantic conventions for generative AI, pinned here: they still move between releases."""

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
AGENT = "gen_ai.agent.name"
CONVERSATION = "gen_ai.conversation.id"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105 - the name of an attribute
FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"
TOOL = "gen_ai.tool.name"
TOOL_CALL = "gen_ai.tool.call.id"
ERROR = "error.type"

INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"

ATTEMPT = "hermes.attempt"
REWRITE = "hermes.middleware.rewrite"
PLUGIN = "hermes.plugin.name"
CALLBACK = "hermes.plugin.callback"
OWN_TIME = "hermes.middleware.own_time"

METRICS = {
    "gen_ai.client.operation.duration": "s",
    "gen_ai.client.operation.time_to_first_chunk": "s",
    "gen_ai.client.token.usage": "{token}",
}
"""Every metric with its unit; each is a histogram."""

PROVIDERS = {
    "azure-foundry": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "openai-codex": "openai",
    "xai": "x_ai",
}
"""Providers that the conventions know by another name."""
