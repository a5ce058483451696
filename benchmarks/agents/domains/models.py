"""The models of all domains, where Django looks for them."""

from benchmarks.agents.domains.boxoffice import *  # noqa: F403
from benchmarks.agents.domains.harbour import *  # noqa: F403
from benchmarks.agents.domains.helpdesk import *  # noqa: F403
from benchmarks.agents.domains.seedbank import *  # noqa: F403
from benchmarks.agents.domains.warehouse import *  # noqa: F403
