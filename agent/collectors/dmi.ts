/** A structure as dmidecode prints it: its title and facts. Lists become arrays. */
export interface DmiStructure {
  readonly title: string
  readonly facts: Readonly<Record<string, string | string[]>>
}

/** Parses dmidecode's output: empty lines separate structures, facts follow one tab, items of a list two. */
export function parseDmi(text: string): DmiStructure[] {
  const structures: { title: string; facts: Record<string, string | string[]> }[] = []
  let last: string | undefined
  let handle = false
  for (const line of text.split('\n')) {
    const current = structures.at(-1)
    if (line.startsWith('Handle ')) handle = true
    else if (handle && /^\S/.test(line)) {
      structures.push({ title: line.trim(), facts: {} })
      handle = false
      last = undefined
    } else if (line.startsWith('\t\t') && current && last !== undefined) {
      const before = current.facts[last]
      current.facts[last] = [...(Array.isArray(before) ? before : []), line.trim()]
    } else if (line.startsWith('\t') && current) {
      const [, name, value = ''] = /^\t([^:]+):\s*(.*)$/.exec(line) ?? []
      last = name
      if (name !== undefined) current.facts[name] = value
    }
  }
  return structures
}

/** Value of `dmi` in the inspection data: firmware, processors, and memory devices with the maximum capacity. */
export function dmiData(structures: readonly DmiStructure[]): Record<string, unknown> {
  const of = (title: string) => structures.filter((structure) => structure.title === title).map(({ facts }) => facts)
  return {
    bios: of('BIOS Information')[0] ?? {},
    cpu: of('Processor Information'),
    memory: { ...of('Physical Memory Array')[0], devices: of('Memory Device') },
  }
}
