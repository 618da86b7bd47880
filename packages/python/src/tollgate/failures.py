"""Turns a raised error into the text that is reported, inspected and shown to the agent."""

from __future__ import annotations

#: Longest reported message of an error, in characters.
MAX_FAILURE_LENGTH = 8192

_UNREADABLE = "(the tool raised an error that cannot be read)"
_NO_MESSAGE = "(the tool raised an error without a message)"


def failure_text(raised: BaseException) -> str:
    """The text of an error, read once: no traceback, no cause, no notes, no errors inside of a group. Never raises."""
    try:
        text = "".join((str(raised),))
    except BaseException:
        # Its error is again untrusted text.
        return _UNREADABLE
    return _bounded(text or _NO_MESSAGE)


def _bounded(text: str) -> str:
    """Cuts the text before inspection, so that all of it is inspected. Replaces lone surrogates, which JSON does not allow."""
    whole = len(text) <= MAX_FAILURE_LENGTH
    kept = text if whole else f"{text[:MAX_FAILURE_LENGTH]} (cut: {len(text)} characters)"
    return kept.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
