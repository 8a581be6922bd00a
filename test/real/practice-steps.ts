import { defineStep, StepError, type HardwareManager } from '../../steps/index.js'

const on = ['clean', 'service'] as const

/** Steps that do nothing to a machine but what a test needs: end, fail, take long, ask for a reboot. */
export const practice: HardwareManager = {
  className: 'PracticeHardwareManager',
  name: 'practice',
  version: '1',
  support: () => Promise.resolve(2),
  steps: [
    defineStep({ name: 'practice_noop', interface: 'deploy', on, run: () => Promise.resolve(null) }),
    defineStep({
      name: 'practice_fail',
      interface: 'deploy',
      on,
      args: { properties: { message: { type: 'string', description: 'What to say.' } }, required: ['message'] },
      run: (_context, { message }) => Promise.reject(new StepError(message)),
    }),
    defineStep({
      name: 'practice_sleep',
      interface: 'deploy',
      on,
      abortable: true,
      args: { properties: { seconds: { type: 'number', description: 'How long.' } }, required: ['seconds'] },
      run: async ({ clock, signal }, { seconds }) => {
        await clock.sleep(seconds * 1000, { signal })
        return null
      },
    }),
    defineStep({
      name: 'practice_reboot',
      interface: 'deploy',
      on,
      rebootRequested: true,
      run: () => Promise.resolve(null),
    }),
  ],
}
