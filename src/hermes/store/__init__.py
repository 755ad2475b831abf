"""Sessions in SQLite: what must survive. `database` opens any file of ours."""

from hermes.store.events import Happening, kept
from hermes.store.search import SearchHit
from hermes.store.sessions import Session, SessionInfo, Status, Store, new_session_id

__all__ = ["Happening", "SearchHit", "Session", "SessionInfo", "Status", "Store", "kept", "new_session_id"]
