import { UserError } from '../lab/index.js'

/** @throws UserError (usage) for what is not simulated: a disk of this host, a machine behind SSH */
export function simulatedOnly(target = 'sim'): void {
  if (target === 'sim') return
  throw new UserError('target', `the target ${target} cannot be used: this ironstage only reaches simulated machines`, {
    kind: 'usage',
    remedy: 'use --target sim',
  })
}
