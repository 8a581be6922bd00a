import { alignColumns } from '../../../../base/runtime/index.js'
import { parseCommandLine } from '../command-line/clap.js'
import type { InstallerProcess } from '../installer-host.js'
import { LIST_STREAM_HELP } from '../command-line/help.js'
import { checkUrl } from '../command-line/option-values.js'
import { fetchStream } from './installer-stream.js'

const STREAM_OPTION = { long: 'stream', short: 's', kind: 'value', placeholder: 'name', once: true } as const
const STREAM_BASE_OPTION = {
  long: 'stream-base-url',
  kind: 'value',
  placeholder: 'URL',
  once: true,
  check: checkUrl,
} as const

/** `coreos-installer list-stream`: prints a table of the images of a stream. */
export async function listStream(process: InstallerProcess, args: readonly string[]): Promise<void> {
  const { clock, signal } = process
  const parsed = parseCommandLine(
    { command: 'coreos-installer list-stream', options: [STREAM_OPTION, STREAM_BASE_OPTION], conflicts: [] },
    args,
  )
  if (typeof parsed === 'string') return process.stdout(LIST_STREAM_HELP)
  const formats = await fetchStream(
    { stream: parsed.values.get(STREAM_OPTION)?.at(-1), streamBaseUrl: parsed.values.get(STREAM_BASE_OPTION)?.at(-1) },
    { clock, signal, retries: 0, print: (line) => process.stderr(`${line}\n`) },
  )
  const rows = [
    ['Architecture', 'Platform', 'Format'],
    ...formats.map(({ architecture, platform, format }) => [architecture, platform, format]),
  ]
  process.stdout(alignColumns(rows, { gap: 2 }))
}
