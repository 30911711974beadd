"""The command line: what is typed becomes the call of a command, and what goes wrong a line and an exit code."""

from __future__ import annotations

import difflib
import importlib.abc
import importlib.machinery
import logging
import os
import re
import sys
from collections import UserDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import islice, takewhile
from types import ModuleType, SimpleNamespace
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from thresher.cli import output
from thresher.cli.options import COMPLETE, DONE, FAILED, INTERRUPTED, WRONG_USAGE, in_flags
from thresher.errors import ThresherError, UsageError
from thresher.text.markup import json_text, shown

ENTRY_POINTS = "thresher.commands"  # the group in which another distribution names its command

OURS = {
    **dict.fromkeys(("index", "watch", "status", "documents", "holding", "doctor", "delete", "drop"), "documents"),
    **dict.fromkeys(("backup", "restore"), "collections"),
    **dict.fromkeys(("search", "ask", "chat", "check", "explain", "feedback"), "questions"),
    "label": "labels",
    **dict.fromkeys(("calibrate", "train-judge", "recipes", "show", "config", "trust", "completion"), "recipes"),
    "demo": "demo",
    "collections": "collections",
}
"""Each command and its file in this folder, which is imported when a command of it is asked for."""

EXTENSIONS = {
    "eval": ("Measure recipes on questions with known answers.", "thresher-evals"),
    "ci": ("Say which answers a change of documents or settings breaks.", "thresher-ci"),
    "serve": ("Answer over HTTP, with a page to look at.", "thresher-server"),
    "mcp": ("Answer an agent's tools, over MCP.", "thresher-server"),
    "keys": ("The keys that let somebody use the server.", "thresher-server"),
}
"""Commands of our own distributions: purpose, and what to install. Those of others are found as well."""


def _command(name: str, loaded: Any) -> Any:
    """A function, or a group of them, as a command."""
    around = typer.Typer(rich_markup_mode=None)
    if isinstance(loaded, typer.Typer):
        around.add_typer(loaded, name=name)
    else:
        around.command(name)(loaded)
    return typer.main.get_group(around).commands[name]


class Extension(TyperGroup):
    """A command of another distribution, or a group of them, which is imported when it is called."""

    def __init__(self, name: str, purpose: str, *, distribution: str) -> None:
        super().__init__(name=name, help=purpose)
        self.distribution = distribution

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the real command or group."""
        group = self.group()
        if parent is not None:
            parent.command.commands[self.name] = group  # an error of it is given in the words of its options
        return group.make_context(info_name, args, parent=parent, **extra)

    def group(self) -> Any:
        """The real command or group. Raises UsageError where the distribution is not installed."""
        from importlib.metadata import entry_points

        name = str(self.name)
        found = entry_points(group=ENTRY_POINTS, name=name)
        if not found:
            what = f"the package '{self.distribution}' is not installed"
            advice = f"pip install ./packages/{self.distribution}"
            raise UsageError(what, subject=f"thresher {name}", next_step=f"in a checkout: {advice}")
        return _command(name, found[name].load())


class _Commands(UserDict[str, Any]):
    """Commands by name; one of ours is made when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            file = import_module(f"thresher.cli.{OURS[name]}")
            self.data[name] = _command(name, getattr(file, name.replace("-", "_")))
        return self.data[name]


ASKING = re.compile("how|what|when|where|which|who|whom|whose|why|is|are|was|were|does|do|did")
"""First words of questions, some of which look like a misspelt command (how, show)."""

QUESTION_WORDS = 3  # of a command line without a command, that make it a question


class Commands(TyperGroup):
    """Our own commands, and those of the distributions on top; a question without a command is asked."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.commands = _Commands(dict.fromkeys(OURS))
        for name, (purpose, distribution) in EXTENSIONS.items():
            self.commands[name] = Extension(name, purpose, distribution=distribution)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Ours, or what another distribution calls by that name."""
        found = super().get_command(ctx, cmd_name)
        return found if found is not None else _of_others().get(cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """Ours, and those of other distributions."""
        return [*self.commands, *sorted(_of_others().keys() - self.commands.keys())]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As usual, with `ask` in front of a question, and options that stand before a command behind its name."""
        shared, args = taken_out(args)
        return super().parse_args(ctx, [*shared, *self._arranged(args)])

    def _arranged(self, args: list[str]) -> list[str]:
        """The arguments with the command in front."""
        before = self._options_before(args)
        if not before:
            return ["ask", *args] if self._is_question(args) else args
        options, rest = args[:before], args[before:]
        if rest and (rest[0] in self.commands or self._is_misspelt(rest)):
            is_group = isinstance(self.commands.get(rest[0]), TyperGroup)  # with a command of its own, as `keys list`
            number = 2 if is_group and len(rest) > 1 and not rest[1].startswith("-") else 1
            return [*rest[:number], *options, *rest[number:]]
        return ["ask", *args]

    def _options_before(self, args: Sequence[str]) -> int:
        """How many arguments are options of some command, with their values, before the first word."""
        if not args or not args[0].startswith("-"):
            return 0
        takes_value: dict[str, bool] = {}
        for one in _options(self):
            takes_value |= dict.fromkeys((*one.opts, *one.secondary_opts), not getattr(one, "is_flag", False))
        own = {"--help", *(name for one in self.params for name in one.opts)}
        number = 0
        while number < len(args):
            name, given, _ = args[number].partition("=")
            if name in own or name not in takes_value:
                break
            number += 2 if takes_value[name] and not given else 1
        return min(number, len(args))

    def _is_misspelt(self, args: Sequence[str]) -> bool:
        """Whether it is a slip in a command's name rather than a question."""
        return not self._is_question(args) and bool(difflib.get_close_matches(args[0], self.commands, cutoff=0.75))

    def _is_question(self, args: Sequence[str]) -> bool:
        """Whether the arguments name no command, but are a question."""
        if not args or args[0] in self.commands or args[0].startswith("-"):
            return False
        first, words = args[0], list(takewhile(lambda argument: not argument.startswith("-"), args))
        if " " in first.strip() or first.endswith("?") or (ASKING.fullmatch(first.casefold()) and len(words) > 1):
            return True
        return len(words) >= QUESTION_WORDS and not difflib.get_close_matches(first, self.commands, cutoff=0.75)


def _of_others() -> dict[str, Extension]:
    """The commands of all distributions that are installed and say so, by name."""
    from importlib.metadata import entry_points

    return {
        one.name: Extension(one.name, f"From {one.dist.name}.", distribution=one.dist.name)
        for one in entry_points(group=ENTRY_POINTS)
        if one.dist is not None
    }


def _options(command: Any) -> Iterator[Any]:
    """The options of the commands below a command; those of `ask` last, which count where two differ."""
    below = getattr(command, "commands", {})
    for name in sorted(below, key=lambda name: name == "ask"):
        yield from (one for one in below[name].params if one.param_type_name == "option")
        yield from _options(below[name])


def _version(wanted: bool) -> None:
    if wanted:
        from thresher import __version__

        output.say(f"thresher {__version__}")
        raise typer.Exit


# --- the log ----------------------------------------------------------------------------------------------------------

Level = Literal["debug", "info", "warning", "error"]

LOG_LEVEL = "--log-level"

LOGGERS = ("thresher", "thresher_evals")  # ours alone: a user did not ask for the log of other libraries


class _Line(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return shown(super().format(record))


@contextmanager
def logged(level: Level) -> Iterator[None]:
    """Inside, what is logged from this level on is shown on stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Line("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    before = {name: logging.getLogger(name).level for name in LOGGERS}
    for name in LOGGERS:
        logging.getLogger(name).addHandler(handler)
        logging.getLogger(name).setLevel(level.upper())
    try:
        yield
    finally:
        for name, earlier in before.items():
            logging.getLogger(name).removeHandler(handler)
            logging.getLogger(name).setLevel(earlier)


def taken_out(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """`--log-level` with its value wherever it stands before `--`, and the other arguments.

    >>> taken_out(["ask", "--log-level", "info", "Who?"])
    (['--log-level', 'info'], ['ask', 'Who?'])
    """
    taken: list[str] = []
    others: list[str] = []
    waiting = iter(args)
    for one in waiting:
        if one == "--":
            return taken, [*others, one, *waiting]
        if one == LOG_LEVEL:
            taken += [one, *islice(waiting, 1)]
        else:
            (taken if one.startswith(f"{LOG_LEVEL}=") else others).append(one)
    return taken, others


# --- the command line -------------------------------------------------------------------------------------------------

app = typer.Typer(
    name="thresher",
    cls=Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # drawing the help with rich takes a tenth of a second longer
)


@app.callback()
def thresher(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    log_level: Annotated[
        Level | None,
        typer.Option(LOG_LEVEL, metavar="LEVEL", help="Show the log on stderr, from debug, info, warning or error on."),
    ] = None,
) -> None:
    """Answers from your own documents that do not trust what was retrieved until it has been judged.

    A question alone is asked: thresher "How many layers has BERT?"
    """
    if log_level is not None:
        context.with_resource(logged(log_level))


# --- running ----------------------------------------------------------------------------------------------------------


REST_CLIENT = "lance_namespace_urllib3_client"
"""`import lancedb` imports this REST client of remote catalogs, which builds hundreds of models and validators: 1.1
of the 3.0 processor seconds of a question. A local store only puts fields into one of them; the library never does what
follows, only a command."""


class _EmptyModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of the REST client, and gives every name in them a class that holds what it is made with."""

    def find_spec(self, name: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        """A spec for the modules of the REST client only."""
        if name.partition(".")[0] != REST_CLIENT:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing runs; a name gets its class when it is imported."""

        def plain_class(name: str) -> type:
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (SimpleNamespace,), {"__module__": module.__name__})

        module.__getattr__ = plain_class  # type: ignore[method-assign]


class _Unchecked(ModuleType):
    """The package `overrides` as far as lancedb uses it, without checks; who wants more of it gets the package."""

    EnforceOverrides = object
    override = staticmethod(lambda method: method)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by the import itself
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def without_rest_client() -> None:
    """Make the next `import lancedb` of this process skip its REST client, and the checks of its own classes.

    Before Python 3.12 the package `overrides` reads the byte code around each of its methods; later nothing does.
    """
    if REST_CLIENT not in sys.modules and not any(isinstance(finder, _EmptyModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, _EmptyModules())
    sys.modules.setdefault("overrides", _Unchecked("overrides"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit; errors become one line on stderr and an exit code."""
    without_rest_client()
    command = typer.main.get_command(app)
    if COMPLETE in os.environ:
        from typer._completion_classes import completion_init

        completion_init()  # typer does so only for programs that install their completion by an option
        command.main(prog_name="thresher", complete_var=COMPLETE)  # tells the shell what can follow, and exits
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in takewhile(lambda argument: argument != "--", given)
    try:
        code = _run(command, given, as_json=as_json)
    except ThresherError as error:
        code = WRONG_USAGE if isinstance(error, UsageError) else FAILED
        words = [in_flags(part, command) for part in (error.subject, error.what, error.next_step)]
        _complain(in_flags(str(error), command), code, as_json, *words)
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain at its end that it cannot write the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED
    except OSError as error:
        subject, what, advice = str(error.filename or "disk"), error.strerror or str(error), "free space or mend it"
        code = FAILED
        _complain(f"{subject}: {what}; {advice}, then run again", code, as_json, subject, what, advice)
    except KeyboardInterrupt as error:
        code = INTERRUPTED
        what = f"interrupted; {str(error) or 'what was committed is kept'}, run the command again to go on"
        _complain(what, code, as_json, "", what)
    sys.exit(code)


def _complain(line: str, code: int, as_json: bool, subject: str, what: str, advice: str = "") -> None:
    """An error on stderr, in one line of words or of JSON; stdout stays empty for a program that reads it."""
    if as_json:
        error = {"what": what, "subject": subject, "next": advice, "exit_code": code}
        sys.stderr.write(json_text({"error": error}) + "\n")
    else:
        output.complain(f"thresher: {line}")


def _run(command: Any, arguments: Sequence[str], *, as_json: bool) -> int:
    """Parse and call, without typer's own words for errors: those take several lines."""
    try:
        with command.make_context("thresher", list(arguments)) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as done:
        return done.exit_code
    except Exception as error:
        if not hasattr(error, "format_message"):  # what typer raises for a command line it cannot read
            raise
        _complain_of_usage(error, as_json=as_json)
        return WRONG_USAGE
    return DONE


def _complain_of_usage(error: Any, *, as_json: bool) -> None:
    """The fault of a command line, in one line; the help for a command that needs more than its name."""
    message = error.format_message()
    if "\n" in message and not as_json:
        sys.stderr.write(shown(message) + "\n")
        return
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "thresher"
    what = f"{message[:1].lower()}{message[1:].rstrip('.')}"
    advice = f"see {path} --help"
    if re.fullmatch(r"no such command '[^']*'", what) and path == "thresher":
        advice += ", or ask it: thresher ask QUESTION"
    _complain(f"{what}; {advice}", WRONG_USAGE, as_json, path, what, advice)
