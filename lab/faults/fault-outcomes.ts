import { pullFailure, type CommandEnd } from '../../machine/index.js'
import { BmcRefused } from '../../ironic-mock/index.js'
import { ConnectionFailed, type WireResponse } from '../../wire/index.js'
import type { FaultOutcomes } from './faults.js'

/** Faults in the words of the rooms that they strike. */
export const faultOutcomes: FaultOutcomes = {
  connectionLost: () => new ConnectionFailed('the connection was lost (a fault of this lab)'),
  answer: (status, body): WireResponse => ({
    status,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  }),
  exit: (exitCode, stderr): CommandEnd => ({ exitCode, stderr }),
  bmcSilent: () => new BmcRefused('unreachable', 'the connection was refused (a fault of this lab)'),
  pullFailed: (image, why = 'not-found') => new Error(pullFailure(image, why)),
  diskError: () => Object.assign(new Error('input/output error (a fault of this lab)'), { code: 'EIO' }),
}
