"""The Python client of Tollgate: it asks the gateway before a tool runs, and reports the outcome afterwards."""

from .approvals import Answered, ApprovalRequest
from .async_client import AsyncApprovals, AsyncClient
from .calls import CallOptions, Context, Evaluation, PageObservation, PageOptions, Source
from .client import Approvals, Client
from .errors import (
    ApprovalRequired,
    ApprovalTimedOut,
    EffectUnreported,
    TollgateError,
    ToolDenied,
    ToolFailed,
    Withheld,
)
from .guarded import Guarded
from .reports import Reported

__version__ = "0.1.0"

__all__ = [
    "Answered",
    "ApprovalRequest",
    "ApprovalRequired",
    "ApprovalTimedOut",
    "Approvals",
    "AsyncApprovals",
    "AsyncClient",
    "CallOptions",
    "Client",
    "Context",
    "EffectUnreported",
    "Evaluation",
    "Guarded",
    "PageObservation",
    "PageOptions",
    "Reported",
    "Source",
    "TollgateError",
    "ToolDenied",
    "ToolFailed",
    "Withheld",
]
