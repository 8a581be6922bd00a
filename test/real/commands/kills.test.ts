import { expect, test } from 'vitest'
import { seededRandom } from '../../../base/runtime/index.js'
import { allCommands } from '../../kit/commands/all-commands.js'
import { killAtRandom } from '../../kit/command-kills/kill-at-random.js'
import { KILLED_COMMANDS } from '../../kit/command-kills/rows.js'

test('every command of the program is among those that are killed', () => {
  const commands = allCommands().filter(({ runs }) => runs)
  expect(Object.keys(KILLED_COMMANDS).sort()).toEqual(
    [...commands.map(({ path }) => path.join(' ')), 'coreos-installer'].sort(),
  )
})

// `npm run test:soak` has five hundred.
test('kills at random moments leave no process, mount or temporary file', async () => {
  await killAtRandom({ count: 20, random: seededRandom(12), longest: 1500, together: 5 })
})
