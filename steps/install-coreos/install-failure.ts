import type { CommandExit } from '../../targets/index.js'
import { describeExit } from '../sdk/run-command.js'

/** Failure of coreos-installer. */
export interface InstallFailure {
  /** The first error that the installer printed, with its causes: `Error: decoding and writing image: lzma data error`. */
  text: string
  /** True if the same command may succeed when run again. */
  transient: boolean
  remedy: string | null
}

/**
 * Reads the failure from the installer's output. The last line is always `Error: install failed`, so the first `Error:`
 * block counts, with the causes under it (recordings coreos-installer/fail-*). Usage errors begin with a small letter.
 */
export function readFailure(lines: readonly string[], exit: CommandExit): InstallFailure {
  const block = firstBlock(lines) ?? panic(lines) ?? lines.findLast((line) => line.trim() !== '')?.trim() ?? 'no output'
  const text = `coreos-installer failed ${how(exit)}: ${[block, ...inUse(lines)].join('; ')}`
  const known = KNOWN_FAILURES.find(({ pattern }) => pattern.test(block))
  return {
    text,
    // Only the output of a program that ended by itself can show a transient failure.
    transient: exit.kind === 'exited' && (known?.transient ?? false),
    remedy: known?.remedy ?? null,
  }
}

const how = (exit: CommandExit) => (exit.kind === 'exited' ? `with code ${exit.code}` : `(${describeExit(exit)})`)

function firstBlock(lines: readonly string[]): string | undefined {
  const start = lines.findIndex((line) => /^error: /i.test(line))
  if (start < 0) return undefined
  const parts = [lines[start]!.trim()]
  const rest = lines.slice(start + 1)
  const heading = rest.findIndex((line) => line.trim() !== '')
  if (heading < 0 || !/^Caused by:\s*$/.test(rest[heading]!)) return parts[0]
  for (const line of rest.slice(heading + 1)) {
    if (!/^\s+\S/.test(line)) break
    const numbered = /^\s+\d+: (.*)$/.exec(line)
    // A cause of several lines continues with a deeper indent than its number.
    if (numbered || parts.length === 1) parts.push((numbered?.[1] ?? line).trim())
    else parts[parts.length - 1] += ` ${line.trim()}`
  }
  return parts.join(': ')
}

const panic = (lines: readonly string[]) => lines.find((line) => /panicked at/.test(line))?.trim()

/** Lines after `Partitions in use on /dev/sda:`, which name the users of a busy disk. */
function inUse(lines: readonly string[]): string[] {
  const start = lines.findIndex((line) => line.startsWith('Partitions in use on '))
  if (start < 0) return []
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => !/^\s+\S/.test(line))
  return (end < 0 ? rest : rest.slice(0, end)).map((line) => line.trim())
}

export const DISK_FAILED = 'The disk failed: replace it.'

/**
 * Known errors of the installer; the first matching row counts. Errors of the network, and of a device that another
 * process holds open, are transient.
 */
const KNOWN_FAILURES: { pattern: RegExp; transient: boolean; remedy: string | null }[] = [
  {
    pattern: /coreos-installer: (command )?not found|chroot: .*coreos-installer.*No such file/,
    transient: false,
    remedy: 'The target has to run a live CoreOS, or have coreos-installer installed.',
  },
  {
    pattern: /No space left on device/,
    transient: false,
    remedy: 'The disk is smaller than the image: choose a larger one by root device hints.',
  },
  {
    pattern: /found busy partitions/,
    transient: false,
    remedy: 'Unmount or stop what uses the disk, or choose another one by root device hints.',
  },
  {
    pattern: /metadata missing/,
    transient: false,
    remedy: 'The live system carries no image: give image_url, or image_source in instance_info.',
  },
  {
    pattern: /couldn't find any partitions/,
    transient: false,
    remedy: 'The disk shows no partitions: the image has none, the disk has lost them, or udev was late to show them.',
  },
  {
    pattern: /couldn't find boot device/,
    transient: false,
    remedy: 'The image has no file system labelled boot: it is not a CoreOS metal image.',
  },
  {
    pattern:
      /truncated or otherwise corrupt|lzma data error|premature EOF|trailing data after compressed|corrupt deflate/,
    transient: false,
    remedy: 'The image is damaged: download it again and compare its checksum.',
  },
  {
    pattern: /signature not found|GPG verification failure/,
    transient: false,
    remedy: 'The image is not signed as required: use a trusted source, or allow it with insecure.',
  },
  {
    pattern: /HTTP status client error \((?!408|429)/,
    transient: false,
    remedy: 'Check the URL of the image.',
  },
  {
    pattern: /HTTP status (server error|client error \((408|429))|\bHTTP (408|429|500|502|503|504)\b/,
    transient: true,
    remedy: 'The image server refused for the moment.',
  },
  {
    pattern:
      /error sending request|request or response body error|error reading a body|end of file before message length|connection (closed|reset|refused|error)|timed out|dns error|failed to lookup address|network is unreachable/i,
    transient: true,
    remedy: 'The image server could not be read from: check the network and the server.',
  },
  {
    pattern: /couldn't reread partition table|EBUSY|Device or resource busy/,
    transient: true,
    remedy: 'A process on the live system keeps the disk open.',
  },
  { pattern: /Input\/output error|EIO/, transient: false, remedy: DISK_FAILED },
]
