/** A line of a JSON document, and whether its value is another one than before. */
export interface JsonLine {
  readonly depth: number
  readonly text: string
  readonly isChanged: boolean
}

type JsonValue = unknown

const isObject = (value: JsonValue): value is Readonly<Record<string, JsonValue>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A document as lines, each marked that differs from the document before; none is where there was none before. */
export function jsonLines(value: JsonValue, before: JsonValue | undefined): JsonLine[] {
  const lines: JsonLine[] = []
  writeChangeLines(value, before, { name: '', depth: 0, end: '', isNew: false, known: before !== undefined }, lines)
  return lines
}

interface OpenContainer {
  readonly name: string
  readonly depth: number
  readonly end: string
  /** Whether what holds it is new altogether. */
  readonly isNew: boolean
  readonly known: boolean
}

function writeChangeLines(
  value: JsonValue,
  before: JsonValue,
  { name, depth, end, isNew, known }: OpenContainer,
  lines: JsonLine[],
): void {
  const parts: [string, JsonValue, JsonValue][] | null = Array.isArray(value)
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
    writeChangeLines(
      item,
      was,
      { name: own, depth: depth + 1, end: index < parts.length - 1 ? ',' : '', isNew: isNew || isAllNew, known },
      lines,
    )
  lines.push({ depth, text: `${close}${end}`, isChanged: isAllNew })
}
