import { expect, test } from 'vitest'
import { minutes, seconds } from './clock.js'
import { VirtualClock } from './virtual-clock.js'
import { withoutRepeats } from './repeats.js'

function logging() {
  const clock = new VirtualClock()
  const lines: string[] = []
  const logger = withoutRepeats((level, message) => void lines.push(`${level}: ${message}`), clock)
  return { clock, lines, logger }
}

test('a warning is logged once, then counted', async () => {
  const { clock, lines, logger } = logging()
  for (let n = 0; n < 1500; n++) {
    logger('warn', 'refused', { node: 'node-1' })
    await clock.advance(seconds(5))
  }
  expect(lines).toEqual([
    'warn: refused',
    'warn: refused (10 more times)',
    'warn: refused (100 more times)',
    'warn: refused (1000 more times)',
  ])
})

test('each node, room, level and reason has its own', () => {
  const { lines, logger } = logging()
  logger('warn', 'refused', { node: 'node-1' })
  logger('warn', 'refused', { node: 'node-2' })
  logger('warn', 'refused', { node: 'node-2', room: 'agent' })
  logger('error', 'refused', { node: 'node-2' })
  logger('warn', 'reset', { node: 'node-2' })
  expect(lines).toHaveLength(5)
})

test('a sentence that did not come for a while is logged again', async () => {
  const { clock, lines, logger } = logging()
  logger('warn', 'refused')
  await clock.advance(minutes(10))
  logger('warn', 'refused')
  expect(lines).toEqual(['warn: refused', 'warn: refused'])
})

test('messages below a warning are never held back', () => {
  const { lines, logger } = logging()
  logger('info', 'found')
  logger('info', 'found')
  expect(lines).toHaveLength(2)
})
