import { expect, test } from 'vitest'
import { rehearsedLab } from '../kit/hardware-lab/rehearsed-process.js'

test('40 hosts are rehearsed, 8 at once, within 60 s and 200 MiB', async () => {
  const { code, ok, took, memory } = await rehearsedLab(40, 8)
  expect({ code, ok }).toEqual({ code: 0, ok: 40 })
  expect(took).toBeLessThan(60_000)
  expect(memory).toBeGreaterThan(50)
  expect(memory).toBeLessThan(200)
}, 180_000)
