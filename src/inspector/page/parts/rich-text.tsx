import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Copy } from "./copy.tsx";
import { type Block, type Inline, parseMarkdown } from "./markdown.ts";

const LONGEST = 20_000;

/** Shows a text as markdown, built of nodes by hand. A very long text is shown as it is. */
export function RichText({ text }: { readonly text: string }): JSX.Element {
  const blocks = useMemo(() => (text.length > LONGEST ? undefined : parseMarkdown(text)), [text]);
  if (blocks === undefined) return <div class="rich plain">{text}</div>;
  return <div class="rich">{blocks.map(shownBlock)}</div>;
}

function shownBlock(block: Block, key: number): JSX.Element {
  switch (block.kind) {
    case "heading":
      return (
        <p key={key} class={`heading heading-${block.level}`}>
          {block.parts.map(shownInline)}
        </p>
      );
    case "code":
      return (
        <div key={key} class="code-block">
          <pre tabIndex={0} role="region" aria-label={block.language === "" ? "Code" : `Code, ${block.language}`}>
            <code>{block.text}</code>
          </pre>
          <Copy text={block.text} label="Copy the code" class="small">
            copy
          </Copy>
        </div>
      );
    case "quote":
      return <blockquote key={key}>{block.blocks.map(shownBlock)}</blockquote>;
    case "list": {
      const items = block.items.map((item, index) => (
        <li key={index}>
          {item.length === 1 && item[0]!.kind === "paragraph" ? item[0]!.parts.map(shownInline) : item.map(shownBlock)}
        </li>
      ));
      return block.ordered ? (
        <ol key={key} start={block.start}>
          {items}
        </ol>
      ) : (
        <ul key={key}>{items}</ul>
      );
    }
    case "table":
      return (
        <div key={key} class="scroll" tabIndex={0} role="region" aria-label="Table">
          <table class="rich-table">
            <thead>
              <tr>
                {block.head.map((cell, index) => (
                  <th key={index} scope="col">
                    {cell.map(shownInline)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, position) => (
                    <td key={position}>{cell.map(shownInline)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case "rule":
      return <hr key={key} />;
    default:
      return <p key={key}>{block.parts.map(shownInline)}</p>;
  }
}

function shownInline(part: Inline, key: number): JSX.Element | string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "code":
      return <code key={key}>{part.text}</code>;
    case "strong":
      return <strong key={key}>{part.parts.map(shownInline)}</strong>;
    case "emphasis":
      return <em key={key}>{part.parts.map(shownInline)}</em>;
    case "deleted":
      return <s key={key}>{part.parts.map(shownInline)}</s>;
    default:
      return (
        <a key={key} href={part.href} title={part.href} target="_blank" rel="noopener noreferrer nofollow">
          {part.parts.map(shownInline)}
        </a>
      );
  }
}
