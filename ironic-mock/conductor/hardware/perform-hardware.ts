import { errorChain, type Logger } from '../../../base/runtime/index.js'
import type { BmcChange, BmcHardware, HardwareReport } from '../../drivers/bmc-hardware.js'
import type { AgentSubject } from '../agents/perform-agent.js'

/** Reads a BMC's report; null without a BMC, and when it does not answer, since the flow continues without the report. */
export async function readReport(
  hardware: BmcHardware | undefined,
  logger: Logger,
  call: (work: () => Promise<HardwareReport>) => Promise<HardwareReport> = (work) => work(),
): Promise<HardwareReport | null> {
  if (!hardware) return null
  try {
    return await call(() => hardware.report())
  } catch (error) {
    logger('warn', `a BMC did not report its hardware: ${errorChain(error).join(': ')}`)
    return null
  }
}

/** @throws Error when the node has no BMC, or the BMC refuses the change */
export async function changeHardware(
  hardware: BmcHardware | undefined,
  change: BmcChange,
  { node }: AgentSubject,
): Promise<void> {
  if (!hardware) throw new Error(`there is no BMC behind node ${node.uuid}`)
  await hardware.change(change)
}
