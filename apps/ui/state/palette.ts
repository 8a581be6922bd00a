import type { FleetRow } from './fleet-rows.js'

/** A line of the palette. */
export interface Choice {
  readonly text: string
  readonly hint: string
  readonly act: () => void
}

/** Rank of a text for what was typed: smaller is better; null where it does not fit. */
function rankOf(text: string, typed: string): number | null {
  const lower = text.toLowerCase()
  const wanted = typed.trim().toLowerCase()
  if (wanted === '') return 1
  if (lower === wanted) return 0
  if (lower.startsWith(wanted)) return 1
  const words = wanted.split(/\s+/)
  return words.every((word) => lower.includes(word)) ? 2 : null
}

/** Choices for what was typed: pages and commands first where they fit as well. */
export function choicesFor(typed: string, { commands, rows, openRow, most = 12 }: ChoiceSource): Choice[] {
  const found: { choice: Choice; rank: number }[] = []
  for (const choice of commands) {
    const rank = rankOf(choice.text, typed)
    if (rank !== null) found.push({ choice, rank })
  }
  for (const row of rows) {
    const rank = rankOf(`${row.name} ${row.state}`, typed) === null ? null : (rankOf(row.name, typed) ?? 3)
    const byId = rank === null && typed.length > 3 && row.id.startsWith(typed.trim()) ? 2 : rank
    if (byId === null) continue
    found.push({ choice: { text: row.name, hint: row.state, act: () => openRow(row) }, rank: byId })
    if (found.length > 2000) break
  }
  return found
    .sort((a, b) => a.rank - b.rank)
    .slice(0, most)
    .map(({ choice }) => choice)
}

export interface ChoiceSource {
  readonly commands: readonly Choice[]
  readonly rows: readonly FleetRow[]
  readonly openRow: (row: FleetRow) => void
  readonly most?: number
}
