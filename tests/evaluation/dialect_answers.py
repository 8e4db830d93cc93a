"""What ten dialects answer, as their pages and public threads show it, and what each answer means.

`Heard.comes_to`: the state in which the unit ends; *again* where the same call is made once more and then answered;
*stops* where the run pauses at once.
"""

import base64
import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from evaluation.backends.provider_dialects import Meaning
from tests.evaluation.provider import png

ComesTo = Literal["done", "refused", "filtered", "empty", "failed", "again", "stops"]
OF_MEANING: Mapping[Meaning, ComesTo] = {
    "answer": "done",
    "cut short": "done",
    "refused": "refused",
    "filtered": "filtered",
    "too long": "failed",
    "about this": "failed",
    "failed": "failed",
    "own mistake": "stops",
    "wrong key": "stops",
    "no quota": "stops",
    "too many": "again",
    "again": "again",
}


class Heard(NamedTuple):
    """One answer: of the protocol `chat` or `images`. `says` is in what is stored of the provider's words."""

    dialect: str
    protocol: Literal["chat", "images"]
    status: int
    body: Any
    meaning: Meaning
    says: str = ""
    state: ComesTo | None = None
    headers: Mapping[str, str] = {}

    @property
    def comes_to(self) -> ComesTo:
        return self.state or OF_MEANING[self.meaning]

    @property
    def name(self) -> str:
        return f"{self.dialect} {self.status} {json.dumps(self.body)[:60]}"


def error(message: Any, code: Any = None, kind: Any = None, param: Any = None, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": code, **more}}


def chat(content: Any, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **more}, "finish_reason": finish}
    return {"object": "chat.completion", "model": "m", "choices": [choice]}


def image(**row: Any) -> dict[str, Any]:
    return {"created": 1, "data": [row]}


def flags(**filtered: bool) -> dict[str, Any]:
    return {name: {"filtered": value, "severity": "high" if value else "safe"} for name, value in filtered.items()}


def google(code: int, message: str, status: str, **more: Any) -> list[dict[str, Any]]:
    return [{"error": {"code": code, "message": message, "status": status, **more}}]


B64 = base64.b64encode(png()).decode()
IN_LINES = "\n".join(B64[start : start + 76] for start in range(0, len(B64), 76))
URL_SAFE = base64.urlsafe_b64encode(png()).decode().rstrip("=")
XAI_DENIED = "The caller does not have permission to execute the specified operation"
AZURE_TEXT = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
LITELLM = "litellm.BadRequestError: litellm.ContentPolicyViolationError: AzureException - it was filtered"
CONTEXT = "This model's maximum context length is 4096 tokens. However, you requested 6616 tokens"
RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.02s"}

ANSWERS: tuple[Heard, ...] = (
    # OpenAI
    Heard("openai", "chat", 200, chat("B"), "answer"),
    Heard("openai", "chat", 200, chat("A long", "length"), "cut short"),
    Heard("openai", "chat", 200, chat("", "length"), "cut short", "cut short before its first word", "empty"),
    Heard("openai", "chat", 200, chat(None, refusal="I can't help with that."), "refused", "I can't help"),
    Heard("openai", "chat", 200, chat("Half", "content_filter"), "filtered", "Half"),
    Heard("openai", "images", 200, image(b64_json=B64, revised_prompt="A bowl"), "answer"),
    Heard("openai", "images", 200, image(b64_json=f"data:image/png;base64,{B64}"), "answer"),
    Heard("openai", "images", 200, image(b64_json=IN_LINES), "answer"),
    Heard("openai", "images", 200, image(b64_json=URL_SAFE), "answer"),
    Heard("openai", "images", 200, image(url=f"data:image/png;base64,{B64}"), "answer"),
    Heard("openai", "images", 400, error("Your request was rejected by the safety system.", "moderation_blocked",
          "image_generation_user_error"), "refused", "safety system"),
    Heard("openai", "images", 400, error("Invalid size '1x1'.", "invalid_value", "image_generation_user_error", "size"),
          "own mistake", "Invalid size '1x1'."),
    Heard("openai", "images", 400, error("Bad value.", "invalid_value", "image_generation_user_error"), "own mistake",
          "Bad value."),
    Heard("openai", "images", 400, error("Not that.", None, "image_generation_user_error"), "refused", "Not that."),
    Heard("openai", "images", 400, error("Rejected.", "content_policy_violation", "invalid_request_error"), "refused",
          "Rejected."),
    Heard("openai", "images", 400, error("It is too long.", "string_above_max_length", None, "prompt"), "too long",
          "It is too long."),
    Heard("openai", "images", 400, error("Prompt is odd.", "invalid_value", None, "prompt"), "about this", "is odd"),
    Heard("openai", "chat", 400, error("Unknown parameter: 'tempo'.", "unknown_parameter", None, "tempo"),
          "own mistake", "'tempo'"),
    Heard("openai", "chat", 400, error("Too long.", "context_length_exceeded", None, "messages"), "too long", "long"),
    Heard("openai", "chat", 401, error("Incorrect API key provided.", "invalid_api_key"), "wrong key", "Incorrect"),
    Heard("openai", "chat", 403, error("Country not supported", "unsupported_country_region_territory"), "wrong key",
          "Country"),
    Heard("openai", "chat", 404, error("No model.", "model_not_found"), "wrong key", "No model."),
    Heard("openai", "images", 429, error("You exceeded your quota.", "insufficient_quota", "insufficient_quota"),
          "no quota", "quota"),
    Heard("openai", "images", 400, error("Hard limit.", "billing_hard_limit_reached"), "no quota", "Hard limit."),
    Heard("openai", "chat", 429, error("Slow.", "rate_limit_exceeded"), "too many", headers={"Retry-After": "0.02"}),
    Heard("openai", "chat", 500, error("The server had an error.", None, "server_error"), "again"),
    Heard("openai", "chat", 503, error("Slow down.", "server_is_overloaded"), "again",
          headers={"Retry-After": "0.02"}),
    # Azure
    Heard("azure", "chat", 400, {"error": {"code": "content_filter", "message": AZURE_TEXT, "status": 400,
          "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": flags(hate=True)}}},
          "refused", "content management policy"),
    Heard("azure", "images", 400, {"error": {"code": "contentFilter", "message": "Your task failed."}}, "refused",
          "Your task failed."),
    Heard("azure", "images", 400, {"error": {"code": "content_policy_violation", "inner_error": {
          "code": "ResponsibleAIPolicyViolation", "content_filter_results": flags(violence=True)},
          "message": "Rejected by our safety system.", "type": "invalid_request_error"}}, "refused", "safety system"),
    Heard("azure", "chat", 200, {**chat("Half"), "choices": [{**chat("Half")["choices"][0],
          "finish_reason": "content_filter", "content_filter_results": flags(sexual=True)}]}, "filtered", "Half"),
    Heard("azure", "chat", 200, {"choices": [], "prompt_filter_results": [
          {"prompt_index": 0, "content_filter_results": flags(self_harm=True)}]}, "refused"),
    Heard("azure", "chat", 200, {**chat("B"), "prompt_filter_results": [
          {"prompt_index": 0, "content_filter_results": flags(hate=False)}]}, "answer"),
    Heard("azure", "chat", 401, {"error": {"code": "401", "message": "Access denied due to invalid key."}},
          "wrong key", "Access denied"),
    Heard("azure", "chat", 404, {"error": {"code": "DeploymentNotFound", "message": "No deployment."}}, "wrong key",
          "No deployment."),
    Heard("azure", "images", 403, {"error": {"code": "Forbidden", "message":
          "Your resource has been temporarily blocked because we detected behavior"}}, "wrong key", "blocked"),
    Heard("azure", "chat", 429, {"error": {"code": "429", "message": "Requests exceeded the rate limit."}}, "too many",
          headers={"retry-after-ms": "20"}),
    # Gemini
    Heard("gemini", "chat", 429, google(429, "Resource has been exhausted (e.g. check quota).", "RESOURCE_EXHAUSTED",
          details=[RETRY_INFO]), "too many"),
    Heard("gemini", "chat", 400, google(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT"),
          "wrong key", "API key not valid"),
    Heard("gemini", "images", 400, google(400, "Invalid JSON payload received. Unknown name \"size\"",
          "INVALID_ARGUMENT"), "own mistake", "Unknown name"),
    Heard("gemini", "chat", 400, google(400, "Something about this.", "INVALID_ARGUMENT"), "failed", "about this"),
    Heard("gemini", "chat", 403, google(403, "The caller does not have permission", "PERMISSION_DENIED"), "failed",
          "does not have permission"),
    Heard("gemini", "chat", 503, google(503, "The model is overloaded.", "UNAVAILABLE"), "again"),
    Heard("gemini", "chat", 200, chat(None, "SAFETY"), "filtered"),
    Heard("gemini", "chat", 200, chat(None, "content_filter: PROHIBITED_CONTENT"), "filtered"),
    Heard("gemini", "chat", 200, {"choices": [], "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "refused",
          "PROHIBITED_CONTENT"),
    Heard("gemini", "chat", 200, chat("A long", "MAX_TOKENS"), "cut short"),
    # xAI
    Heard("xai", "images", 403, {"code": XAI_DENIED, "error": "Content violates usage guidelines."}, "refused",
          "usage guidelines"),
    Heard("xai", "chat", 400, {"code": "Client specified an invalid argument",
          "error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"}, "refused", "SAFETY"),
    Heard("xai", "chat", 403, {"code": XAI_DENIED, "error": "Something that nobody knows."}, "failed", "nobody knows"),
    Heard("xai", "chat", 400, {"code": "Client specified an invalid argument",
          "error": "Incorrect API key provided: xa***."}, "wrong key", "Incorrect API key"),
    Heard("xai", "images", 200, image(url="", b64_json=None, respect_moderation=False), "answer", "", "filtered"),
    Heard("xai", "images", 422, "Failed to deserialize the JSON body into the target type: unknown field `style`",
          "own mistake", "unknown field"),
    Heard("xai", "chat", 429, {"code": "Some resource has been exhausted", "error":
          "Your team has either used all available credits or reached its monthly spending limit."}, "no quota",
          "all available credits"),
    Heard("xai", "images", 200, {"created": 1, "data": []}, "answer", "gave 0 of 1", "empty"),
    # OpenRouter
    Heard("openrouter", "chat", 200, {"error": {"code": 429, "message": "Rate limit exceeded"}}, "too many"),
    Heard("openrouter", "images", 200, {"error": {"code": 429, "message": "Rate limit exceeded"}}, "too many"),
    Heard("openrouter", "images", 200, {"error": {"code": "content_policy_violation"}}, "refused"),
    Heard("openrouter", "chat", 403, {"error": {"code": 403, "message": "No.", "metadata": {
          "reasons": ["violence"], "flagged_input": "…", "provider_name": "P"}}}, "refused", "No."),
    Heard("openrouter", "chat", 402, {"error": {"code": 402, "message": "Insufficient credits"}}, "no quota",
          "credits"),
    Heard("openrouter", "chat", 401, {"error": {"code": 401, "message": "No auth credentials found"}}, "wrong key",
          "credentials"),
    Heard("openrouter", "chat", 502, {"error": {"code": 502, "message": "Provider returned error"}}, "again"),
    Heard("openrouter", "chat", 400, {"error": {"code": 400, "message": "Provider returned error", "metadata": {
          "raw": json.dumps({"error": {"message": CONTEXT, "type": "invalid_request_error", "code": 400}})}}},
          "too long", "maximum context"),
    Heard("openrouter", "chat", 200, {"choices": [{"message": {"content": "Half"}, "finish_reason": "error",
          "error": {"code": 502, "message": "Lost."}}]}, "again"),
    # LiteLLM
    Heard("litellm", "images", 400, {"error": {"message": LITELLM, "type": None, "param": None, "code": "400"}},
          "refused", "it was filtered"),
    Heard("litellm", "images", 500, {"error": {"message": LITELLM, "type": "None", "param": "None", "code": 500}},
          "refused", "it was filtered"),
    Heard("litellm", "chat", 400, error("litellm.ContextWindowExceededError: …", "400"), "too long"),
    Heard("litellm", "chat", 400, error("litellm.UnsupportedParamsError: n", "400"), "own mistake", "Unsupported"),
    Heard("litellm", "chat", 429, error("litellm.RateLimitError: slow", "429", "throttling_error"), "too many"),
    Heard("litellm", "chat", 400, error("Budget has been exceeded! Current cost: 1", "400", "budget_exceeded"),
          "no quota", "Budget"),
    Heard("litellm", "chat", 401, error("Authentication Error, Invalid proxy key", "401", "auth_error"), "wrong key",
          "Authentication Error"),
    Heard("litellm", "chat", 400, "bad request", "failed", "bad request"),
    # vLLM
    Heard("vllm", "chat", 400, {"object": "error", "message": CONTEXT, "type": "BadRequestError", "param": None,
          "code": 400}, "too long", "maximum context"),
    Heard("vllm", "chat", 404, {"object": "error", "message": "The model `x` does not exist.",
          "type": "NotFoundError", "param": None, "code": 404}, "wrong key", "does not exist"),
    Heard("vllm", "chat", 401, {"error": "Unauthorized"}, "wrong key", "Unauthorized"),
    Heard("vllm", "chat", 422, {"detail": [{"loc": ["body", "n"], "msg": "value is not a valid integer",
          "type": "int_parsing"}]}, "own mistake", "not a valid integer"),
    Heard("vllm", "chat", 500, {"object": "error", "message": "EngineCore died", "type": "InternalServerError",
          "code": 500}, "again"),
    # SGLang
    Heard("sglang", "chat", 400, {"object": "error", "message": "The input (61709 tokens) is longer than the model's "
          "context length (40960 tokens).", "type": "BadRequestError", "param": None, "code": 400}, "too long",
          "61709"),
    Heard("sglang", "chat", 400, {"object": "error", "message": "Something else", "type": "BadRequest", "code": 400},
          "failed", "Something else"),
    Heard("sglang", "chat", 503, {"object": "error", "message": "The server is busy", "code": 503}, "again"),
    # Ollama
    Heard("ollama", "chat", 404, error("model \"m\" not found, try pulling it first", None, "api_error"), "wrong key",
          "try pulling"),
    Heard("ollama", "chat", 200, {"error": "model 'm' not found, try pulling it first"}, "wrong key", "try pulling"),
    Heard("ollama", "chat", 500, error("model requires more system memory (5.3 GiB) than is available", None,
          "api_error"), "wrong key", "system memory"),
    Heard("ollama", "chat", 400, {"error": "invalid message content type: <nil>"}, "failed", "invalid message"),
    Heard("ollama", "chat", 200, chat("", "stop"), "answer", "holds no words", "empty"),
    # llama.cpp
    Heard("llama.cpp", "chat", 400, {"error": {"code": 400, "message": "the request exceeds the available context "
          "size", "type": "exceed_context_size_error", "n_prompt_tokens": 1407, "n_ctx": 256}}, "too long", "exceeds"),
    Heard("llama.cpp", "chat", 200, {"error": {"code": 400, "message": "the request exceeds the available context "
          "size", "type": "exceed_context_size_error"}}, "too long", "exceeds"),
    Heard("llama.cpp", "chat", 500, {"error": {"code": 500, "message": "Context size has been exceeded.",
          "type": "server_error"}}, "too long", "exceeded"),
    Heard("llama.cpp", "chat", 503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}},
          "again"),
    Heard("llama.cpp", "chat", 401, {"error": {"code": 401, "message": "Invalid API Key",
          "type": "authentication_error"}}, "wrong key", "Invalid API Key"),
    Heard("llama.cpp", "chat", 501, {"error": {"code": 501, "message": "This server does not support this",
          "type": "not_supported_error"}}, "own mistake", "does not support"),
    # MiniMax, also behind relays
    Heard("minimax", "images", 500, {"type": "error", "error": {"type": "new_sensitive", "message": "input sensitive"}},
          "refused", "input sensitive"),
    Heard("minimax", "chat", 500, error("input new_sensitive, please check your input (1026)"), "refused", "1026"),
    Heard("minimax", "chat", 200, {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}},
          "no quota", "insufficient"),
    Heard("minimax", "images", 200, {"data": None, "base_resp": {"status_code": 1026, "status_msg": "sensitive"}},
          "refused", "sensitive"),
)  # fmt: skip
