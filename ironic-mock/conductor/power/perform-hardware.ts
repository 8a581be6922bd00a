import { errorChain, type Logger } from '../../../runtime/index.js'
import type { BmcChange, BmcHardware, HardwareReport } from '../../drivers/hardware.js'
import type { Subject } from '../agents/perform-agent.js'

/** What the BMC tells; null when there is none or it does not answer, which is no reason to stop. */
export async function reportOf(hardware: BmcHardware | undefined, logger: Logger): Promise<HardwareReport | null> {
  if (!hardware) return null
  try {
    return await hardware.report()
  } catch (error) {
    logger('warn', `a BMC did not tell about its machine: ${errorChain(error).join(': ')}`)
    return null
  }
}

/** @throws Error when there is no BMC to tell, or it refuses */
export async function changed(hardware: BmcHardware | undefined, change: BmcChange, { node }: Subject): Promise<void> {
  if (!hardware) throw new Error(`there is no BMC behind node ${node.uuid}`)
  await hardware.change(change)
}
