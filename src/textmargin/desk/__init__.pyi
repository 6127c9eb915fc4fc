from .acts import Act, new_id
from .app import create_desk_app
from .project import Project
from .session import Desk

__all__ = ["Act", "Desk", "Project", "create_desk_app", "new_id"]
