import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { comparable, runOurs } from '../../test/kit/first-boot-run.js'

interface Recorded {
  config: object
  failed: boolean
  changed: Record<string, string>
  journal: string[]
}

const recorded = JSON.parse(
  readFileSync(new URL('../../test/fixtures/first-boot/recorded.json', import.meta.url), 'utf8'),
) as Record<string, Recorded>

describe('the tree and the journal that Ignition 2.26.0 left', () => {
  test.each(Object.entries(recorded))('is ours too for the config "%s"', async (_, { config, ...left }) => {
    expect(comparable(await runOurs(JSON.stringify(config)))).toEqual(left)
  })
})
