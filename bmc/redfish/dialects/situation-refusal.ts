import { messageRefusal, Refusal } from '../protocol/redfish-refusal.js'
import type { BaseMessage } from '../protocol/redfish-messages.js'
import type { SpokenDialect } from './spoken-dialect.js'

/** Situations of a machine in which a BMC refuses what it else does, with messages of its own. */
type RefusalSituation = 'duringPost' | 'settling' | 'repeat' | 'slotFull'

/** A refusal with the BMC's message for a situation, or else one of the registry Base. */
export function situationRefusal(
  { dialect }: SpokenDialect,
  situation: RefusalSituation,
  status: number,
  key: BaseMessage,
  args: readonly string[],
  about: { property?: string; resolution: string },
): Refusal {
  const refusal = messageRefusal(status, key, args, about)
  const { ids } = dialect.errors
  const id = Object.hasOwn(ids, situation) ? ids[situation] : undefined
  if (id === undefined) return refusal
  return new Refusal(
    status,
    refusal.messages.map((each) => ({ ...each, MessageId: id })),
  )
}
