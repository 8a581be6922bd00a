import { runToEnd } from '../../steps/index.js'
import type { Target } from '../../targets/index.js'
import type { InspectionBody } from '../../base/wire/index.js'

/**
 * Output of `hardware-detect` (of the project hardware): a list of lists of four, from which Ironic makes its extra
 * data (IPA's source). A live system without that program, such as CoreOS, adds nothing.
 *
 * @throws Error when the program fails or prints something else
 */
export async function extraHardware(
  { executor }: Target,
  signal: AbortSignal,
): Promise<Pick<InspectionBody, 'data'> | Record<never, never>> {
  const { exit, stdout, stderr } = await runToEnd(executor, ['hardware-detect'], { effect: 'reads', signal })
  if (exit.kind === 'exited' && exit.code === 127) return {}
  if (exit.kind !== 'exited' || exit.code !== 0) throw new Error(`hardware-detect failed: ${stderr.trim()}`)
  const data = parseHardwareDetect(stdout)
  if (!Array.isArray(data) || !data.every((item) => Array.isArray(item) && item.length === 4))
    throw new Error(`hardware-detect did not print a list of lists of four: ${stdout.slice(0, 200)}`)
  return { data }
}

function parseHardwareDetect(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error('hardware-detect did not print JSON', { cause })
  }
}
