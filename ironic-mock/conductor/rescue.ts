import { IronicError, type JsonObject } from '../../wire/index.js'
import type { Turn } from './turn.js'

/** Rescue with the fake interface: no ramdisk, the states only. Through an agent it is refused for now. */
export function startRescue(turn: Turn, password: string | undefined): void {
  requireFake(turn)
  turn.begin('rescue')
  turn.node.instance_info = {
    ...turn.node.instance_info,
    rescue_password: password ?? '',
    hashed_rescue_password: password ?? '',
  }
  turn.run([{ kind: 'proceed' }], 'rescue.fake')
}

export function startUnrescue(turn: Turn): void {
  requireFake(turn)
  turn.begin('unrescue')
  const { rescue_password: _, hashed_rescue_password: __, ...left } = turn.node.instance_info
  turn.node.instance_info = left satisfies JsonObject
  turn.run([{ kind: 'proceed' }], 'unrescue.fake')
}

export function rescueEnded(turn: Turn): void {
  turn.process('done')
  turn.rest()
}

function requireFake({ node }: Turn): void {
  if (node.rescue_interface !== 'fake')
    throw new IronicError(400, `Driver ${node.driver} does not support rescue (disabled or not implemented).`)
}
