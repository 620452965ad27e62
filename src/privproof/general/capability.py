"""What is still laid out by layers: its kinds of questions, engines and commands, registered like those of a folder of its own."""

from privproof.capabilities import Capability, Command, Kind

CAPABILITY = Capability(
    "general",
    general=True,
    kinds={
        "words": Kind("evidence.documents.words:document", "reporting.words:WordReport"),
        "secrets": Kind("evidence.documents.tables:document", "reporting.secrets:SecretsReport"),
        "program": Kind("evidence.documents.programs:document", "reporting.programs:ProgramReport"),
        "stream": Kind("evidence.documents.streams:document", "reporting.streams:StreamReport"),
        "runs": Kind("evidence.documents.runs:document", "reporting.runs:RunsReport"),
        "draws": Kind("evidence.documents.draws:document", "reporting.draws:DrawsReport"),
        "lottery": Kind("evidence.documents.lotteries:document", "reporting.draws:DrawsReport"),
        "measured": Kind("evidence.documents.measured:document", "reporting.measured:MeasuredReport"),
        "composed": Kind("evidence.documents.composed:document", "reporting.composed:ComposedReport"),
    },
    engines=(
        ("table", ("words",), "engines.words.table:TableEngine"),
        ("worst-way", ("words",), "engines.words.worst_way:WorstWayEngine"),
        ("tensors", ("words",), "engines.words.bounded:TensorEngine"),
        ("frontier", ("words",), "engines.words.bounded:FrontierEngine"),
        ("ratios", ("words",), "engines.words.ratios:RatioEngine"),
        ("unbounded", ("words",), "engines.words.unbounded:UnboundedEngine"),
        ("events", ("words",), "engines.words.events:EventsEngine"),
        ("smt", ("words",), "engines.words.bounded:SmtEngine"),
        ("definition", ("words",), "engines.words.definition:DefinitionEngine"),
        ("registers", ("program",), "engines.registers.engine:RegisterEngine"),
        ("streams", ("program", "stream"), "engines.streams.engine:StreamEngine"),
        ("laplace", ("program",), "engines.laplace.engine:AlignmentEngine"),
        ("runs", ("runs",), "engines.runs.engine:RunsEngine"),
        ("draws", ("draws",), "engines.draws.engine:DrawsEngine"),
        ("lottery", ("lottery",), "engines.lotteries.engine:LotteryEngine"),
        ("parametric", ("secrets",), "engines.parametric.engine:ParametricEngine"),
        ("divergences", ("measured",), "engines.divergences.engine:DivergencesEngine"),
        ("composition", ("composed",), "engines.composition.engine:CompositionEngine"),
    ),
    commands={
        "check": Command("cli.asking", "Is the mechanism private within the budget?"),
        "epsilon": Command("cli.asking", "The tight epsilon: exact, or certified lower and upper bounds."),
        "delta": Command(
            "cli.profiling", "The smallest delta at an epsilon, enclosed: proved from above, refuted from below."
        ),
        "profile": Command(
            "cli.profiling",
            "The privacy profile: the smallest delta for every epsilon, over all neighbours; of one use or of several together.",
        ),
        "rho": Command("cli.measuring", "The smallest rho of zCDP, enclosed."),
        "mu": Command("cli.measuring", "The smallest mu of Gaussian differential privacy, enclosed."),
        "renyi": Command("cli.measuring", "Rényi divergences at some orders, enclosed."),
        "recheck": Command("cli.rechecking", "Check a certificate with the independent checker."),
        "convert": Command(
            "general.convert_command", "Write a model in another form: YAML, JSON, PRISM, DRN, DOT, SVG, SMT-LIB."
        ),
        "examples": Command(
            "general.examples_command", "The library: list its examples with their known verdicts, or run one."
        ),
        "explain": Command(
            "cli.explaining",
            "Why a mechanism is private: what every line pays; or what breaks it, and which changes would repair it.",
        ),
        "outline": Command(
            "cli.outlining",
            "What a file holds: its functions, and what is wrong or refused in it, with line and column.",
        ),
        "schema": Command(
            "cli.schemas",
            "The JSON Schema (draft 2020-12) of what --json prints about verdicts, of model files, or of certificates.",
        ),
        "store": Command(
            "cli.storing", "The verdicts that are kept from one run to the next: how many, where, and giving them up."
        ),
        "serve": Command(
            "cli.serving",
            "A page in the browser to write, ask, draw and recheck in, for the person at this machine alone.",
        ),
    },
)
