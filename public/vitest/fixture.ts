import { createLab, type Lab, type LabOptions } from '../../lab/index.js'
import type { Clock, MovableClock } from '../../base/runtime/index.js'
import { journalText } from './journal-text.js'

/** Options of {@link ironstage}. */
export interface IronstageOptions extends LabOptions {
  /** Entries of the journal that are printed at most when a test fails. Default 40. */
  journalEntries?: number
}

/** The part of a test's context in Vitest that {@link ironstage} reads. */
interface TestContext {
  readonly task: { readonly name: string; readonly result?: { readonly state: string } | undefined }
}

/** Fixtures of {@link ironstage}. */
export interface IronstageFixtures<C extends Clock = Clock> {
  lab: (context: TestContext, use: (lab: Lab<C>) => Promise<void>) => Promise<void>
}

/**
 * A lab for each test that asks for `lab`, disposed of after the test. When the test fails, the last of the lab's journal is
 * printed, without secrets.
 *
 * @example
 * import { installCoreos } from 'ironstage'
 * import { ironstage } from 'ironstage/vitest'
 * import { expect, test as base } from 'vitest'
 *
 * const test = base.extend(ironstage({ seed: 7 }))
 *
 * test('a node is deployed', async ({ lab }) => {
 *   const node = await lab.enroll({ deploySteps: [installCoreos()] })
 *   await node.deploy()
 *   expect(await node.settled()).toMatchObject({ provision_state: 'active' })
 * })
 */
export function ironstage(options?: IronstageOptions & { clock?: 'auto' | 'manual' }): IronstageFixtures<MovableClock>
export function ironstage(options: IronstageOptions): IronstageFixtures
export function ironstage({ journalEntries = 40, ...options }: IronstageOptions = {}): IronstageFixtures {
  return {
    // Vitest reads from the pattern of the first parameter what a fixture needs.
    lab: async ({ task }, use) => {
      await using lab = await createLab(options)
      await use(lab)
      if (task.result?.state !== 'fail') return
      const text = journalText(lab.journal, { title: task.name, most: journalEntries })
      // eslint-disable-next-line no-console -- Vitest shows what is printed so beside the test
      console.error(text)
    },
  }
}
