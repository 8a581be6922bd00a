import {
  Probe,
  silent,
  systemClock,
  withoutRepeats,
  type Clock,
  type Logger,
  type Scope,
} from '../../base/runtime/index.js'
import { Events } from '../lab-events.js'
import { randomnessOf, type Randomness } from './randomness.js'
import type { StageOptions } from './stage-options.js'

/** The ground of a stage, which all of its parts use. */
export interface StageCore {
  readonly clock: Clock
  readonly randomness: Randomness
  readonly probe: Probe
  readonly events: Events
  readonly logger: Logger
  /** Closes the parts, the last one first. */
  readonly scope: Scope
}

export function openCore(options: StageOptions, scope: Scope): StageCore {
  const clock = options.clock ?? systemClock()
  const logger = withoutRepeats(options.logger ?? silent, clock)
  const events = new Events(
    () => clock.now(),
    (error) => logger('error', 'a listener of the lab failed', { error }),
  )
  if (options.onEvent) events.listen(options.onEvent)
  return { clock, randomness: randomnessOf(options.random), probe: new Probe(), events, logger, scope }
}
