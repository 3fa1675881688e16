/** A command that breaks only at its blanks: browsers would break `--delete` behind its hyphens. A longer word than the line still does. */
export function Unbroken({ text }: { readonly text: string }) {
  return text.split(/( +)/).map((part, index) =>
    part.includes('-') ? (
      <span key={index} style={{ display: 'inline-block', maxWidth: '100%' }}>
        {part}
      </span>
    ) : (
      part
    ),
  );
}
