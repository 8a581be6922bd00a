import { useState } from 'preact/hooks'

/** A call for a shell, and a button that copies it. */
export function Curl({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState<string | null>(null)
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(text),
      () => setCopied(null),
    )
  }
  return (
    <div class="curl">
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <button onClick={copy}>{copied === text ? 'Copied' : 'Copy'}</button>
    </div>
  )
}
