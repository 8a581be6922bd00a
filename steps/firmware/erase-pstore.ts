import { defineStep } from '../sdk/define-step.js'
import { sysNames } from '../hardware/block-devices.js'
import { runCommand } from '../sdk/run-command.js'

const PSTORE = '/sys/fs/pstore'

/** Deletes the records of crashed kernels in pstore. */
export const erasePstore = defineStep({
  name: 'erase_pstore',
  interface: 'deploy',
  on: ['clean'],
  abortable: true,
  run: async ({ target, logger, signal }) => {
    const names = await sysNames(target.executor, PSTORE)
    logger('info', names.length === 0 ? 'pstore is empty' : `deleting ${names.length} records of pstore`)
    const paths = names.map((name) => target.hostPath(`${PSTORE}/${name}`))
    if (paths.length > 0) await runCommand(target.executor, ['rm', '-rf', ...paths], { effect: 'writes', signal })
    return null
  },
})
