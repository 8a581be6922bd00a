import { describe, expect, test } from 'vitest'
import { runOurs } from '../../test/kit/first-boot-run.js'
import { newestSpecOf } from './newest-spec.js'

describe('the newest version of the spec that a system reads', () => {
  test.each([
    ['44.81.202003110830-0', '3.0.0'],
    ['32.20200505.3.0', '3.1.0'],
    ['48.84.202109241901-0', '3.3.0'],
    ['414.92.202310170514-0', '3.4.0'],
    ['9.2.20220510.1', '3.3.0'],
    ['9.6.20250826.1', '3.6.0'],
    ['unknown', '3.6.0'],
  ])('of CoreOS %s is %s', (version, newest) => {
    expect(newestSpecOf(version)).toBe(newest)
  })

  const config = JSON.stringify({ ignition: { version: '3.5.0' } })

  test('a config of a later version ends in the emergency shell, as with the Ignition of that time', async () => {
    const { failed, journal } = await runOurs(config, '414.92.202310170514-0')
    expect(failed).toBe(true)
    expect(journal.join('\n')).toContain('unsupported config version')
  })

  test('a config that such a one is merged into does too', async () => {
    const source = `data:,${encodeURIComponent(config)}`
    const merging = JSON.stringify({ ignition: { version: '3.0.0', config: { merge: [{ source }] } } })
    expect(await runOurs(merging, '414.92.202310170514-0')).toMatchObject({ failed: true })
    expect(await runOurs(merging, '9.6.20250826.1')).toMatchObject({ failed: false })
  })
})
