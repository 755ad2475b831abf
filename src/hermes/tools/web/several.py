"""Several backends as one: asked in turn, asked at once, or each for the addresses it can read."""

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from hermes.errors import BackendDown, BackendSpent, ConfigError, WebError
from hermes.protocols import Document, Filter, Found, Notebook, Query, SearchRow, WebBackend
from hermes.tools.web.addresses import canonical, matched, split
from hermes.tools.web.filters import EVERY, Today, ask

TOPIC = "web backend down"
DOWN_FOR = 60.0
SPENT_FOR = 300.0
LONGEST_DOWN = 3600.0
_RANK_DAMPING = 60


class Member(msgspec.Struct, frozen=True):
    """One of several: connected when it is its turn, which raises `NotConfigured` for what it lacks."""

    name: str
    schemes: tuple[str, ...]
    connect: Callable[[], WebBackend]


class Memory:
    """Who was down a moment ago, so that the next question does not wait for it again."""

    def __init__(self, notebook: Notebook) -> None:
        self._notebook = notebook

    def is_down(self, name: str) -> bool:
        return self._notebook.read(TOPIC, name) is not None

    def note(self, name: str, error: BackendDown) -> None:
        told = error.retry_after if isinstance(error, BackendSpent) else None
        usual = SPENT_FOR if isinstance(error, BackendSpent) else DOWN_FOR
        self._notebook.write(TOPIC, name, str(error), min(told or usual, LONGEST_DOWN))


class Failover:
    """Asks the first, and the next one where that is down or has nothing left to spend.

    Who was down lately is asked last. With `on_empty` the next one is asked also when nothing was found.
    """

    filters: frozenset[Filter] = EVERY

    def __init__(
        self, members: Sequence[Member], memory: Memory, today: Today, *, on_empty: bool = False
    ) -> None:
        self.name = members[0].name
        self.schemes = _schemes(members)
        self._members = members
        self._memory = memory
        self._today = today
        self._on_empty = on_empty

    async def search(self, query: Query) -> Found:
        passed: list[str] = []
        empty: Found | None = None
        for member in self._in_turn():
            try:
                found = await ask(member.connect(), query, self._today)
            except (BackendDown, ConfigError) as error:
                passed.append(self._pass_over(member, error))
                continue
            served = msgspec.structs.replace(found, notes=(*passed, *found.notes), served_by=member.name)
            if found.rows or found.answer or not self._on_empty:
                return served
            empty = empty or served
            passed.append(f"`{member.name}` found nothing")
        if empty is not None:
            return empty
        raise _nobody(passed)

    async def extract(self, urls: Sequence[str]) -> Sequence[Document]:
        """Each page from the first that can read it."""
        read: dict[str, Document] = {}
        passed: list[str] = []
        for member in self._in_turn():
            left = [url for url in urls if url not in read or read[url].elsewhere]
            if not left:
                break
            try:
                documents = await member.connect().extract(left)
            except (BackendDown, ConfigError) as error:
                passed.append(self._pass_over(member, error))
                continue
            failed = [document for document in documents if document.elsewhere]
            if failed and len(failed) == len(documents):
                self._memory.note(member.name, BackendDown(failed[0].error or ""))
            read |= {
                url: msgspec.structs.replace(each, url=url, served_by=member.name)
                for url, each in matched(left, documents).items()
            }
        if not read and urls:
            raise _nobody(passed)
        return list(read.values())

    def _in_turn(self) -> list[Member]:
        return sorted(self._members, key=lambda member: self._memory.is_down(member.name))

    def _pass_over(self, member: Member, error: BackendDown | ConfigError) -> str:
        if isinstance(error, BackendDown):
            self._memory.note(member.name, error)
        return f"`{member.name}` was passed over: {error}"


class Federation:
    """Asks all at once and fuses what they find; the slow have `patience` seconds after the first answer."""

    filters: frozenset[Filter] = EVERY

    def __init__(self, members: Sequence[Member], patience: float, today: Today) -> None:
        self.name = ", ".join(member.name for member in members)
        self.schemes = _schemes(members)
        self._members = members
        self._patience = patience
        self._today = today

    async def search(self, query: Query) -> Found:
        asked = {asyncio.ensure_future(self._ask(member, query)): member for member in self._members}
        try:
            await self._wait(set(asked))
        finally:
            late = [task for task in asked if not task.done()]
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        slow = f"was too slow: it had {self._patience:g} s more than the first"
        notes = [f"`{asked[task].name}` {slow}" for task in late]
        found: dict[str, Found] = {}
        for task, member in asked.items():
            if task in late:
                continue
            answer = task.result()
            if isinstance(answer, Found):
                found[member.name] = answer
            else:
                notes.append(f"`{member.name}` was passed over: {answer}")
        if not found:
            raise _nobody(notes)
        return Found(
            rows=fused([each.rows for each in found.values()]),
            answer=next((each.answer for each in found.values() if each.answer), ""),
            notes=(*notes, *dict.fromkeys(note for each in found.values() for note in each.notes)),
            served_by=", ".join(found),
        )

    async def extract(self, urls: Sequence[str]) -> Sequence[Document]:
        raise WebError("several backends are asked at once for a search only")

    async def _ask(self, member: Member, query: Query) -> Found | WebError | ConfigError:
        """What a member found, or why it found nothing."""
        try:
            return await ask(member.connect(), query, self._today)
        except (WebError, ConfigError) as error:
            return error

    async def _wait(self, waiting: set[asyncio.Future[Found | WebError | ConfigError]]) -> None:
        """Until all have answered, or until the others had their patience after one found something."""
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if waiting and any(isinstance(task.result(), Found) and task.result().rows for task in done):  # type: ignore[union-attr]
                await asyncio.wait(waiting, timeout=self._patience)
                return


class ByScheme:
    """Each page is read by the first backend that reads addresses of its kind."""

    filters: frozenset[Filter] = frozenset()

    def __init__(self, backends: Sequence[WebBackend]) -> None:
        self.name = backends[0].name
        self.schemes = tuple(dict.fromkeys(scheme for backend in backends for scheme in backend.schemes))
        self._backends = backends

    async def search(self, query: Query) -> Found:
        return await self._backends[0].search(query)

    async def extract(self, urls: Sequence[str]) -> Sequence[Document]:
        shares: dict[int, list[str]] = {}
        for url in urls:
            scheme = (split(url) or ("", ""))[0]
            place = next((n for n, backend in enumerate(self._backends) if scheme in backend.schemes), 0)
            shares.setdefault(place, []).append(url)
        read = await asyncio.gather(*(self._read(self._backends[n], share) for n, share in shares.items()))
        return [document for share in read for document in share]

    async def _read(self, backend: WebBackend, urls: Sequence[str]) -> list[Document]:
        documents = await backend.extract(urls)
        return [msgspec.structs.replace(each, served_by=each.served_by or backend.name) for each in documents]


def fused(lists: Sequence[Sequence[SearchRow]]) -> tuple[SearchRow, ...]:
    """One list by reciprocal rank: what many find, and find early, comes first; each page once."""
    scores: dict[str, float] = {}
    best: dict[str, tuple[int, SearchRow]] = {}
    for rows in lists:
        seen: set[str] = set()
        for rank, row in enumerate(rows, start=1):
            page = canonical(row.url) if isinstance(row.url, str) else ""
            if not page or page in seen:
                continue
            seen.add(page)
            scores[page] = scores.get(page, 0.0) + 1 / (_RANK_DAMPING + rank)
            if page not in best or rank < best[page][0]:
                best[page] = (rank, row)
    order = sorted(scores, key=lambda page: (-scores[page], best[page][0]))
    return tuple(msgspec.structs.replace(best[page][1], score=scores[page]) for page in order)


def _schemes(members: Sequence[Member]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(scheme for member in members for scheme in member.schemes))


def _nobody(passed: Sequence[str]) -> WebError:
    hint = "name others in `web.failover`, or try again later"
    return BackendDown(f"no web backend answers: {'; '.join(passed)}", hint=hint)
