"""Who works for one request: this process alone, a pool of processes on this machine, or an executor that the caller has.

Any executor of the protocol of `concurrent.futures` will do whose tasks run in other processes: a cluster of dask has one
(``client.get_executor()``).  There is no scheduler here.  Values that many chunks need cross once, as a `Parcel`: processes that are
copies of this one have them already, others get their bytes, by cloudpickle where that is installed, so that functions of notebooks
cross too, and otherwise by pickle, which finds functions by module and name.

In one process one chunk is worked on at a time, because seeds, precisions and what is printed belong to the whole process; for the
same reason an executor of threads of this very process is refused.
"""

from __future__ import annotations

import ctypes
import hashlib
import multiprocessing
import os
import pickle
import random
import signal
import sys
import threading
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar

from privproof.errors import QuestionError
from privproof.memory import MEMORY, memory_limit

Value = TypeVar("Value")

_VERSION = str(vars(sys.modules["privproof"])["__version__"])
_UNKNOWN_WIDTH = 32
"""Chunks under way at once where an executor does not say how many workers it has: enough for a small cluster, few in memory."""
_OPENED = 8
"""Parcels that a worker keeps open: a request has one or two, and a worker of a cluster may serve several requests in turn."""
_REACHABLE = 10.0
"""Seconds within which the scheduler of a cluster must answer: an address that is wrong should not look like a long search."""


def processors() -> int:
    """How many processors this process may use; a worker has one, because the others are somebody else's."""
    if _limits:
        return _limits[-1]
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def limit_processors(count: int) -> None:
    """Use so many processors from now on; for a process that works beside others of the same request."""
    _limits[:] = [max(1, count)]


_limits: list[int] = []


@dataclass(frozen=True)
class Parcel(Generic[Value]):
    """A value that many chunks need; small, and opened once in every worker.

    Attributes:
        key: tells it apart from others.
        data: its bytes; None where workers are copies of the process that has it.
    """

    key: str
    data: bytes | None

    def open(self) -> Value:
        """The value."""
        if self.key not in _held:
            if self.data is None:
                raise LookupError("a parcel that was made after its workers")
            while len(_held) >= _OPENED:
                del _held[next(iter(_held))]
            _held[self.key] = pickle.loads(self.data)
        found: Value = _held[self.key]
        return found


_held: dict[str, Any] = {}
"""Values of parcels in this process."""


def _bytes_of(value: object, name: str) -> bytes:
    """A value as it crosses.

    Raises:
        QuestionError: it cannot cross.
    """
    try:
        import cloudpickle
    except ImportError:
        dumps: Callable[[object], bytes] = pickle.dumps
        hint = "pip install cloudpickle, or a function at the top level of a module"
    else:
        dumps, hint = cloudpickle.dumps, "a function without open files, locks or connections; or no executor"
    try:
        return dumps(value)
    except Exception as error:
        said = f"{name} cannot be sent to another process: {error}"
        raise QuestionError("executor", said, place=name, hint=hint) from None


@dataclass(frozen=True)
class ChunkJob:
    """A function that works on a chunk, as it crosses; what the function raises comes back as a value.

    Attributes:
        function: the function.
        origin: the process that asks.
        version: the version of privproof there.
    """

    function: Callable[[Any], Any]
    origin: str
    version: str = _VERSION

    def __call__(self, chunk: Any) -> Any:
        """What comes of a chunk, or what was `Raised`."""
        try:
            if self.origin.startswith(_identity()):
                said = "the executor that is given runs its tasks in threads of this process, which share seeds and precisions"
                raise QuestionError("executor", said, place="executor", hint="an executor of processes, or jobs=2")
            if self.version != _VERSION:
                said = f"a worker has privproof {_VERSION}, and {self.version} asks"
                raise QuestionError("executor", said, place="executor", hint=f"pip install privproof=={self.version}")
            with _ONE_AT_A_TIME:
                _leave_random_alone()
                return self.function(chunk)
        except Exception as error:
            return Raised(_sendable(error))


@dataclass(frozen=True)
class Raised:
    """What a function has raised in a worker."""

    error: Exception


def worker_result(found: Any) -> Any:
    """What a worker has found; what it has raised is raised."""
    if isinstance(found, Raised):
        raise found.error
    return found


def _sendable(error: Exception) -> Exception:
    """The exception, or one that crosses and says the same."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _leave_random_alone() -> None:
    """Let the threads of a dask worker draw delays and samples elsewhere than from Python's global generator, which chunks seed."""
    if "distributed" not in sys.modules:
        return
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in _CLUSTER_PACKAGES:
            for known, value in list(vars(module).items()):
                if value is random:
                    vars(module)[known] = _OTHERS
                elif getattr(value, "__self__", None) is _SHARED:
                    vars(module)[known] = getattr(_OTHERS, value.__name__)


_CLUSTER_PACKAGES = ("dask", "distributed", "tornado")
_OTHERS = random.Random()
_SHARED = random._inst  # whose methods are the functions of the module
_ONE_AT_A_TIME = threading.Lock()
_TOKEN = uuid.uuid4().hex
_numbers = count()


def _identity() -> str:
    """This process, among all processes of all machines; a copy of it is another."""
    return f"{_TOKEN}:{os.getpid()}:"


@dataclass(eq=False)
class Workers:
    """Who works for one request: ``with Workers(jobs=2) as workers: ...``; at the end of the block no process is left.

    Attributes:
        jobs: how many processes of this machine; 1 for this process alone.
        executor: instead of them an executor that the caller has, and that outlives the request.
    """

    jobs: int = 1
    executor: Executor | None = None
    _pool: ProcessPoolExecutor | None = field(default=None, init=False)
    _keys: list[str] = field(default_factory=list, init=False)
    _origin: str = field(default_factory=lambda: _identity() + str(next(_numbers)), init=False)

    def __post_init__(self) -> None:
        if isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs < 1:
            said = f"jobs={self.jobs!r} is no number of processes"
            raise QuestionError("jobs", said, place="jobs", hint=f"jobs={processors()}")
        if self.executor is not None and not callable(getattr(self.executor, "submit", None)):
            said = f"{self.executor!r} is no executor of concurrent.futures"
            raise QuestionError("executor", said, place="executor", hint="executor=client.get_executor()")

    @property
    def alone(self) -> bool:
        """Whether this process does all the work."""
        return self.executor is None and self.jobs == 1

    @property
    def width(self) -> int:
        """How many chunks are worked on at once, about."""
        if self.executor is None:
            return self.jobs
        return getattr(self.executor, "_max_workers", None) or _UNKNOWN_WIDTH

    @property
    def copies(self) -> bool:
        """Whether the workers are copies of this process, so that values do not have to cross."""
        return self.executor is None and _start_method() == "fork"

    def parcel(self, value: Value, name: str = "the work") -> Parcel[Value]:
        """A value that many chunks need.

        Raises:
            QuestionError: it cannot cross to these workers.
        """
        if self.alone or self.copies:
            key, data = _identity() + str(next(_numbers)), None
            _held[key] = value
            self._keys.append(key)
            self._part()  # workers that have it already are copies of this process as it is now
        else:
            data = _bytes_of(value, name)
            key = hashlib.sha256(data).hexdigest()
        return Parcel(key, data)

    def job(self, function: Callable[[Any], Any]) -> ChunkJob:
        """A function as it is submitted."""
        return ChunkJob(function, self._origin)

    def submit(self, job: ChunkJob, chunk: object) -> Future[Any]:
        """Let a worker do a chunk."""
        if self.executor is not None:
            return self.executor.submit(job, chunk)
        if self._pool is None:
            context: Any = multiprocessing.get_context(_start_method())
            self._pool = ProcessPoolExecutor(self.jobs, context, _begin_worker, (os.getpid(), self.jobs))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
            return self._pool.submit(job, chunk)

    def abandon(self, futures: Iterable[Future[Any]]) -> None:
        """What nobody waits for any more is not begun; processes of this request end that work on it."""
        left = [future for future in futures if not future.done()]
        if self.executor is not None:
            for future in left:
                future.cancel()
        elif left:
            self.stop()

    def renew(self) -> bool:
        """Fresh processes after one of them was lost; False where they are not ours to make."""
        self.stop()
        return self.executor is None

    def stop(self) -> None:
        """End the processes of this request at once, in the middle of whatever they do.

        The pool reads what they send to the end: of one that ends while it sends, this end of the pipe would let it wait for ever.
        """
        if self._pool is not None:
            pool: Any = self._pool
            for process in list((pool._processes or {}).values()):
                process.kill()
            if pool._result_queue is not None:
                pool._result_queue._writer.close()
            self._part()

    def _part(self) -> None:
        """Let the processes end.  No future is cancelled: the pool would fail to tell those of lost processes that they are lost."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.stop()
        self._part()
        for key in self._keys:
            _held.pop(key, None)


def still_wanted() -> bool:
    """Whether somebody still waits for what this worker does; a worker of dask knows, of others it is taken for granted."""
    if "distributed" not in sys.modules:
        return True
    from distributed import get_worker

    try:
        worker: Any = get_worker()
        task = worker.state.tasks.get(worker.get_current_task())
    except (ValueError, AttributeError):  # no worker of dask
        return True
    return task is not None and task.state not in _UNWANTED


_UNWANTED = ("cancelled", "released", "forgotten")
"""States of a task of dask whose client has taken it back, or is gone."""


@contextmanager
def cluster(address: str | None) -> Iterator[Executor | None]:
    """The executor of the dask cluster whose scheduler has an address; None for None.

    Raises:
        QuestionError: ``distributed`` is not installed, or no scheduler answers there.
    """
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        said = "a cluster needs the package distributed"
        raise QuestionError("cluster", said, place="--cluster", hint="pip install 'privproof[cluster]'") from None
    try:
        connect: Any = Client  # typed or not, as the package is
        client = connect(address, timeout=_REACHABLE, set_as_default=False)
    except (OSError, ValueError) as error:
        said = (
            f"no scheduler answers at {address}: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        )
        hint = "dask scheduler, dask worker tcp://HOST:8786, --cluster tcp://HOST:8786"
        raise QuestionError("cluster", said, place="--cluster", hint=hint) from None
    with client:
        yield client.get_executor(pure=False)


def _start_method() -> str:
    return "fork" if "fork" in multiprocessing.get_all_start_methods() and sys.platform != "win32" else "spawn"


def _begin_worker(parent: int, jobs: int) -> None:
    """Begin as a process of a pool: it ends with its parent, leaves interrupts to it, and has its share of threads and memory."""
    end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    limit_processors(1)
    use_one_thread()
    limit = memory_limit()
    if limit is not None:
        os.environ[MEMORY] = str(max(1, limit // jobs))


def end_with(parent: int) -> None:
    """Where the system can (Linux), this process ends when its parent is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1: PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(70)


def use_one_thread() -> None:
    """Let libraries for matrices compute in one thread, those that are loaded and those that will be: every processor has a worker."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    loaded: set[str] = set()
    with suppress(OSError):
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
        loaded = {path for line in lines if "openblas" in (path := line.rpartition(" ")[2])}
    for path in sorted(loaded):
        with suppress(OSError):
            library = ctypes.CDLL(path)
            for name in _SETTING_THREADS:
                with suppress(AttributeError):
                    getattr(library, name)(1)


_SETTING_THREADS = tuple(
    f"{prefix}openblas_set_num_threads{suffix}" for prefix in ("", "scipy_") for suffix in ("", "64_")
)
"""How builds of OpenBLAS call the function that says how many threads they use; what ends in ``_`` after that is Fortran's."""
