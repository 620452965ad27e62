"""What logic brings: formulas of dpCTL* about Markov chains and decision processes."""

from privproof.capabilities import Capability, Command, Examples, Kind, Shown

CAPABILITY = Capability(
    "logic",
    kinds={"formula": Kind("logic.formula_document:document", "logic.formula_report:FormulaReport")},
    engines=(("logic", ("formula",), "logic.formula_engine:LogicEngine"),),
    commands={
        "logic": Command(
            "logic.logic_command", "In which states does a formula hold, and what are the probabilities behind it?"
        )
    },
    shown={
        "logic.decision_process.DecisionProcess": Shown("logic.formula_cards:process_card"),
        "logic.state_satisfaction.Satisfaction": Shown(
            "logic.formula_cards:satisfaction_card", "logic.formula_cards:satisfaction_text"
        ),
    },
    held={"logic.decision_process.DecisionProcess": "model"},
    suffixes=dict.fromkeys(
        (".pm", ".nm", ".prism", ".sm", ".jani", ".drn"), "logic.formats.process_files:read_process"
    ),
    convert="logic.process_conversion:converted_process",
    examples=Examples(
        "logic.library.formula_examples:FORMULAS",
        "logic.library.example_answers:example_form",
        "logic.library.example_answers:example_text",
        "logic.library.example_answers:run_example",
    ),
)
