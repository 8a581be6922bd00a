import { describe, expect, test } from 'vitest'
import { systemClock } from '../../base/runtime/index.js'
import { exited, FakeTarget } from '../../test/kit/fake-target.js'
import { stepContext } from '../../test/kit/step-context.js'
import { runInstaller } from '../install-coreos/run-installer.js'
import { defineStep } from './define-step.js'
import { runCommand } from './run-command.js'

const FULL =
  'The disk is not broken: it is the file /srv/a.img, whose file system is full. Make room there, and try again.'

/** A target whose disk is a file; the kernel says EIO of it. */
function target(roomLeft: number) {
  const fake = new FakeTarget(systemClock())
  fake.programs['dd'] = () => exited(1, "dd: error writing '/dev/loop0': Input/output error\n")
  fake.programs['coreos-installer'] = () =>
    exited(
      1,
      'Error: decoding and writing image\n\nCaused by:\n    Input/output error (os error 5)\nError: install failed\n',
    )
  return Object.assign(fake, { diskFile: () => Promise.resolve({ path: '/srv/a.img', roomLeft }) })
}

const filling = defineStep({
  name: 'fill',
  interface: 'deploy',
  on: ['deploy'],
  run: ({ target }) => runCommand(target.executor, ['dd', 'of=/dev/loop0'], { effect: 'writes' }).then(() => null),
})

describe('an input/output error of a disk that is a file', () => {
  test('on a file system that is full says so, and not that the disk is to be replaced', async () => {
    const error = await runInstaller(stepContext(target(4096)), ['coreos-installer', 'install']).catch(String)
    expect(error).toBe(
      `StepError: coreos-installer failed with code 1: Error: decoding and writing image: Input/output error (os error 5). ${FULL}`,
    )
    await expect(filling.run(stepContext(target(0)), {})).rejects.toMatchObject({
      details: `running dd of=/dev/loop0: it ended with exit code 1: dd: error writing '/dev/loop0': Input/output error. ${FULL}`,
    })
  })

  test('on one that has room, and of a real disk, is that of the disk', async () => {
    const plain = new FakeTarget(systemClock())
    plain.programs = target(0).programs
    for (const each of [target(2 ** 30), plain]) {
      await expect(runInstaller(stepContext(each), ['coreos-installer', 'install'])).rejects.toThrow(
        'The disk failed: replace it.',
      )
      await expect(filling.run(stepContext(each), {})).rejects.toThrow('running dd of=/dev/loop0')
    }
  })
})
