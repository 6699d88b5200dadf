"""All parts of the page put together: their operations for the one OpenAPI document, and their routes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from starlette.routing import Route

from toolroll.apps.chats import Chats
from toolroll.apps.desk import Desk
from toolroll.apps.run_book import RunBook
from toolroll.home.folders import find_folders
from toolroll.journal.places import find_run_log
from toolroll.packs.writing.tools.dependencies import FOLDER as WRITING_FOLDER
from toolroll.web.ag_ui import AG_UI_OPERATIONS, AgUiApi
from toolroll.web.home_api import HOME_OPERATIONS, HomeApi
from toolroll.web.ideas_api import IDEA_OPERATIONS, IdeasApi
from toolroll.web.models import Operation
from toolroll.web.page import PREFIX, PageFiles
from toolroll.web.page_api import PAGE_OPERATIONS, PageApi
from toolroll.web.profile_api import PROFILE_OPERATIONS, ProfileApi
from toolroll.web.routing import make_routes
from toolroll.web.runs_api import RUN_OPERATIONS, RunsApi
from toolroll.web.settings_api import SETTINGS_OPERATIONS, SettingsApi
from toolroll.web.writing_api import WRITING_OPERATIONS, WritingApi

if TYPE_CHECKING:
    from toolroll.web.api import Service

ALL_PAGE_OPERATIONS: Final[tuple[Operation, ...]] = (
    *HOME_OPERATIONS,
    *PAGE_OPERATIONS,
    *RUN_OPERATIONS,
    *WRITING_OPERATIONS,
    *PROFILE_OPERATIONS,
    *SETTINGS_OPERATIONS,
    *IDEA_OPERATIONS,
    *AG_UI_OPERATIONS,
)


class PageParts:
    """What the page of a service is made of; close it at the end."""

    def __init__(self, service: "Service") -> None:
        self._service = service
        self._chats = Chats(service.store.journal, service.environment)
        data: Path = service.data or find_folders(service.environment).data / WRITING_FOLDER
        self._desk = Desk(data, service.store.journal, service.environment, self._chats.feed)

    def routes(self) -> list[Route]:
        """Return the routes of all parts, and of the page's files."""
        service = self._service
        assert service.sessions is not None  # there is no page without them
        chats, desk = self._chats, self._desk
        journal, folder, environment = service.store.journal, service.folder, service.environment
        book = RunBook(find_run_log(environment))
        parts: list[tuple[object, Sequence[Operation]]] = [
            (HomeApi(chats, service.store, book, folder, environment), HOME_OPERATIONS),
            (PageApi(chats, journal, service.sessions, book, folder, environment), PAGE_OPERATIONS),
            (RunsApi(chats, journal, book, environment), RUN_OPERATIONS),
            (WritingApi(desk, environment), WRITING_OPERATIONS),
            (ProfileApi(desk, environment), PROFILE_OPERATIONS),
            (AgUiApi(chats, journal, folder), AG_UI_OPERATIONS),
            (IdeasApi(service.store, service.place, environment), IDEA_OPERATIONS),
            (SettingsApi(folder, environment, service.doctor), SETTINGS_OPERATIONS),
        ]
        found = [route for part, operations in parts for route in make_routes(part, operations, service.doorkeeper)]
        page = PageFiles()
        return [*found, Route("/", page), Route(f"{PREFIX}{{path:path}}", page)]

    async def close(self) -> None:
        """Stop everything; all of it can go on from its record."""
        await self._chats.close()
        await self._desk.close()
