"""Commands on datasets: convert rows of your own, show a dataset folder."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Datasets: make a folder of token ids from rows of your own; show one.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.command()
def convert(  # noqa: PLR0913 - an option each
    source: Annotated[Path, typer.Argument(help="JSON lines, or a JSON list; a row per sample.")],
    out: Annotated[Path, typer.Argument(help="The dataset folder to write.")],
    *,
    name: Annotated[str, typer.Option(help="The dataset's name; default: the folder's.")] = "",
    tokens: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Field of token ids; default: tok_input, input_ids, tokens, token_ids or prompt_token_ids.",
        ),
    ] = None,
    text: Annotated[
        str | None, typer.Option(metavar="FIELD", help="Field of text, tokenized where a row has no token ids.")
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Field of the reference text; default: output, reference, gt_output, ref_output, response or ideal.",
        ),
    ] = None,
    tokenizer: Annotated[
        Path | None, typer.Option(help="The model's tokenizer.json: tokenizes text, bounds token ids, is recorded.")
    ] = None,
    special_tokens: Annotated[
        bool, typer.Option("--special-tokens/--no-special-tokens", help="Whether the tokenizer adds its own to text.")
    ] = True,
    origin: Annotated[str, typer.Option("--source", metavar="TEXT", help="Where the rows come from.")] = "",
    licence: Annotated[str, typer.Option(metavar="TEXT", help="The licence of the rows.")] = "",
    replace: Annotated[bool, typer.Option("--replace", help="Replace the dataset folder if it is there.")] = False,
) -> None:
    """Make a dataset folder from rows with token ids or text. All or nothing; every bad row is named."""
    from harness.dataset.convert import Conversion  # noqa: PLC0415 - numpy only when a dataset is made
    from harness.dataset.convert import convert as make  # noqa: PLC0415

    done = make(
        Conversion(
            source=source,
            out=out,
            name=name,
            tokens=tokens,
            text=text,
            reference=reference,
            tokenizer=tokenizer,
            special_tokens=special_tokens,
            origin=origin,
            licence=licence,
            replace=replace,
        )
    )
    parts = [f"token ids from {done.token_field}"] if done.tokenized < done.samples else []
    parts += [f"{done.tokenized} tokenized from {text}"] if done.tokenized else []
    parts.append(f"references from {done.reference_field}" if done.reference_field else "no reference texts")
    typer.echo(f"wrote {out}: {done.samples} samples; {'; '.join(parts)}")


@app.command()
def show(folder: Annotated[Path, typer.Argument(help="A dataset folder.")]) -> None:
    """Print a dataset's name, size, prompt lengths, hash and how many samples have a reference."""
    from harness.dataset.show import describe_dataset  # noqa: PLC0415

    typer.echo(describe_dataset(folder), nl=False)
