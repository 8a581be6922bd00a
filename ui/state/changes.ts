/** A line of a JSON document, and whether its value is another one than before. */
export interface JsonLine {
  readonly depth: number
  readonly text: string
  readonly isChanged: boolean
}

type Json = unknown

const isObject = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A document as lines, each marked that differs from the document before; none is where there was none before. */
export function jsonLines(value: Json, before: Json | undefined): JsonLine[] {
  const lines: JsonLine[] = []
  write(value, before, { name: '', depth: 0, end: '', isNew: false, known: before !== undefined }, lines)
  return lines
}

interface Place {
  readonly name: string
  readonly depth: number
  readonly end: string
  /** Whether what holds it is new altogether. */
  readonly isNew: boolean
  readonly known: boolean
}

function write(value: Json, before: Json, { name, depth, end, isNew, known }: Place, lines: JsonLine[]): void {
  const parts: [string, Json, Json][] | null = Array.isArray(value)
    ? value.map((item, index) => ['', item, Array.isArray(before) ? before[index] : undefined])
    : isObject(value)
      ? Object.entries(value).map(([key, item]) => [
          `${JSON.stringify(key)}: `,
          item,
          isObject(before) ? before[key] : undefined,
        ])
      : null
  const isChanged = known && (isNew || JSON.stringify(value) !== JSON.stringify(before))
  if (parts === null || parts.length === 0) {
    lines.push({ depth, text: `${name}${JSON.stringify(value)}${end}`, isChanged })
    return
  }
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const isAllNew = known && before === undefined
  lines.push({ depth, text: `${name}${open}`, isChanged: isAllNew })
  for (const [index, [own, item, was]] of parts.entries())
    write(
      item,
      was,
      { name: own, depth: depth + 1, end: index < parts.length - 1 ? ',' : '', isNew: isNew || isAllNew, known },
      lines,
    )
  lines.push({ depth, text: `${close}${end}`, isChanged: isAllNew })
}
