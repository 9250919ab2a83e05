"""vLLM's LLMEngine as the loop knows it. Imports vllm late: after the environment is set.

Prompts go in and answers come out as token ids: no detokenizer. A request gives two outputs, its first token and all
the rest, or, where first tokens are not wanted, one.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sut.protocol import Sampling
from sut.vllm.loop import Output, Request

ONE_DELTA = 1 << 30
"""Tokens between two outputs of a request: more than any answer has, so the second output is the last."""


class Llm:
    """sut.vllm.loop.StepEngine over vLLM."""

    def __init__(self, model: str, engine_args: Mapping[str, object], sampling: Sampling) -> None:
        from vllm.engine.arg_utils import EngineArgs  # noqa: PLC0415  (heavy, and fixed by the environment)
        from vllm.v1.engine.llm_engine import LLMEngine  # noqa: PLC0415

        forced = {"model": model, "disable_log_stats": True, "stream_interval": ONE_DELTA}
        self._engine = LLMEngine.from_engine_args(EngineArgs(**{**engine_args, **forced}))
        self._sampling = sampling
        self._params: dict[tuple[bool, int | None], Any] = {}

    @property
    def config(self) -> Any:
        """The configuration as vLLM resolved it."""
        return self._engine.vllm_config

    def add(self, request_id: str, request: Request) -> None:
        """Queue one request. Raises ValueError for a prompt the model cannot take."""
        params = self._params_of(request.first_token, request.max_tokens)
        self._engine.add_request(request_id, {"prompt_token_ids": request.prompt.tolist()}, params)

    def unfinished(self) -> bool:
        return bool(self._engine.has_unfinished_requests())

    def step(self) -> Iterator[Output]:
        """One step of the engine: what it finished or began."""
        for output in self._engine.step():
            answer = output.outputs[0]
            yield Output(output.request_id, answer.token_ids, answer.finish_reason)

    def abort(self, request_ids: Sequence[str]) -> None:
        """Forget these requests; ids that are not known are passed over."""
        self._engine.abort_request(list(request_ids))

    def close(self) -> None:
        self._engine.engine_core.shutdown()

    def _params_of(self, first_token: bool, max_tokens: int | None) -> Any:  # noqa: FBT001  (a key, not an option)
        key = (first_token, max_tokens)
        if key not in self._params:
            self._params[key] = sampling_params(self._sampling, first_token=first_token, max_tokens=max_tokens)
        return self._params[key]


def sampling_params(sampling: Sampling, *, first_token: bool, max_tokens: int | None) -> Any:
    """The run's sampling as vLLM wants it; `max_tokens` shortens answers (warm-up)."""
    from vllm import SamplingParams  # noqa: PLC0415
    from vllm.sampling_params import RequestOutputKind  # noqa: PLC0415

    longest = sampling.max_new_tokens if max_tokens is None else min(max_tokens, sampling.max_new_tokens)
    return SamplingParams(
        min_tokens=min(sampling.min_new_tokens, longest),
        max_tokens=longest,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=sampling.top_k,
        seed=sampling.seed,
        ignore_eos=sampling.ignore_eos,
        detokenize=False,
        output_kind=RequestOutputKind.DELTA if first_token else RequestOutputKind.FINAL_ONLY,
    )
