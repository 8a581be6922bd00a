import { expect, test } from 'vitest'
import { follow } from './follow.js'
import { readLifecycle } from './lifecycle-recording.js'
import { AS_RECORDED, MOMENTARY, openLifecycle } from './lifecycle-stage.js'

const refusedFirst =
  'a configdrive that is text is refused before the disk is chosen; IPA looks the node up again first'

test('deployments that fail, are aborted and undeployed go where real ones went, in the same words', async () => {
  await using stage = await openLifecycle(AS_RECORDED)
  await stage.begin({ name: 'deployfail', automated_clean: false }, 'available')
  const failing = { match: { program: 'coreos-installer' }, effect: { kind: 'exit-code', code: 1 } } as const
  let fault: Disposable | undefined
  const differences = await follow(stage, readLifecycle('agent-deploy-failures'), {
    momentary: MOMENTARY,
    notMade: { 67: refusedFirst },
    // The recorded step had no argument `ignition`; ours has.
    replace: {
      '"args":{"ignition":': '"args":{"nosuch":',
      "'args': {'ignition':": "'args': {'nosuch':",
      'unexpected arguments: ignition': 'unexpected arguments: nosuch',
    },
    before: (part) => {
      fault?.[Symbol.dispose]()
      const failure = { ...failing, effect: { ...failing.effect, stderr: 'Error: no such image\n' } }
      fault = part === 'coreos-installer fails three times' ? stage.lab.faults.add(failure) : undefined
    },
  })
  expect(differences).toEqual([])
})
