"""What verification of mechanisms brings: the kinds of questions about models and functions, their engines, and the commands that ask."""

from privproof.capabilities import Capability, Command, Examples, Kind

CAPABILITY = Capability(
    "verification",
    general=True,
    held={"language.mechanism.Mechanism": "mechanism"},
    kinds={
        "words": Kind("evidence.documents.word_document:document", "reporting.word_report:WordReport"),
        "secrets": Kind("evidence.documents.secrets_document:document", "reporting.secrets_report:SecretsReport"),
        "program": Kind("evidence.documents.program_document:document", "reporting.program_report:ProgramReport"),
        "stream": Kind("evidence.documents.stream_document:document", "reporting.stream_report:StreamReport"),
        "runs": Kind("evidence.documents.runs_document:document", "reporting.runs_report:RunsReport"),
        "draws": Kind("evidence.documents.draws_document:document", "reporting.draws_report:DrawsReport"),
        "measured": Kind("evidence.documents.measured_document:document", "reporting.measured_report:MeasuredReport"),
        "composed": Kind("evidence.documents.composed_document:document", "reporting.composed_report:ComposedReport"),
    },
    engines=(
        ("table", ("words",), "engines.words.table_engine:TableEngine"),
        ("worst-way", ("words",), "engines.words.worst_way_engine:WorstWayEngine"),
        ("tensors", ("words",), "engines.words.bounded_engines:TensorEngine"),
        ("frontier", ("words",), "engines.words.bounded_engines:FrontierEngine"),
        ("ratios", ("words",), "engines.words.ratio_engine:RatioEngine"),
        ("unbounded", ("words",), "engines.words.unbounded_engine:UnboundedEngine"),
        ("events", ("words",), "engines.words.events_engine:EventsEngine"),
        ("smt", ("words",), "engines.words.bounded_engines:SmtEngine"),
        ("definition", ("words",), "engines.words.definition_engine:DefinitionEngine"),
        ("registers", ("program",), "engines.registers.register_engine:RegisterEngine"),
        ("streams", ("program", "stream"), "engines.streams.stream_engine:StreamEngine"),
        ("laplace", ("program",), "engines.laplace.engine:AlignmentEngine"),
        ("runs", ("runs",), "engines.runs.runs_engine:RunsEngine"),
        ("draws", ("draws",), "engines.draws.draws_engine:DrawsEngine"),
        ("parametric", ("secrets",), "engines.parametric.parametric_engine:ParametricEngine"),
        ("divergences", ("measured",), "engines.divergences.divergence_engine:DivergencesEngine"),
        ("composition", ("composed",), "engines.composition.composition_engine:CompositionEngine"),
    ),
    examples=Examples(
        "library.library_examples:EXAMPLES",
        "library.example_texts:example_form",
        "library.example_texts:example_text",
        "cli.examples_command:run_example",
    ),
    commands={
        "check": Command("cli.check_command", "Is the mechanism private within the budget?"),
        "epsilon": Command("cli.check_command", "The tight epsilon: exact, or certified lower and upper bounds."),
        "delta": Command(
            "cli.profile_command", "The smallest delta at an epsilon, enclosed: proved from above, refuted from below."
        ),
        "profile": Command(
            "cli.profile_command",
            "The privacy profile: the smallest delta for every epsilon, over all neighbours; of one use or of several together.",
        ),
        "rho": Command("cli.measures_command", "The smallest rho of zCDP, enclosed."),
        "mu": Command("cli.measures_command", "The smallest mu of Gaussian differential privacy, enclosed."),
        "renyi": Command("cli.measures_command", "Rényi divergences at some orders, enclosed."),
        "recheck": Command("cli.recheck_command", "Check a certificate with the independent checker."),
        "convert": Command(
            "cli.convert_command", "Write a model in another form: YAML, JSON, PRISM, DRN, DOT, SVG, SMT-LIB."
        ),
        "examples": Command(
            "cli.examples_command", "The library: list its examples with their known verdicts, or run one."
        ),
        "explain": Command(
            "cli.explain_command",
            "Why a mechanism is private: what every line pays; or what breaks it, and which changes would repair it.",
        ),
        "outline": Command(
            "cli.outline_command",
            "What a file holds: its functions, and what is wrong or refused in it, with line and column.",
        ),
        "schema": Command(
            "cli.schema_command",
            "The JSON Schema (draft 2020-12) of what --json prints about verdicts, of model files, or of certificates.",
        ),
        "store": Command(
            "cli.store_command",
            "The verdicts that are kept from one run to the next: how many, where, and giving them up.",
        ),
        "serve": Command(
            "cli.serve_command",
            "A page in the browser to write, ask, draw and recheck in, for the person at this machine alone.",
        ),
    },
)
