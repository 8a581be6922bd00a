import { expect, test } from 'vitest'
import { Printer } from './printer.js'
import { liveProgress } from './deployment-progress.js'

test('on a terminal the stage line keeps the agent progress when the state change to deploying arrives late', () => {
  let written = ''
  const view = liveProgress(new Printer({ columns: 120, write: (text) => void (written = String(text)) }))
  view.show({ event: 'stage', stage: 'deploy', status: 'started' }, 0)
  view.show({ event: 'progress', step: 'install_coreos', stage: 'installing to /dev/sda' }, 1)
  view.show({ event: 'state', provision_state: 'deploying', power_state: 'power on' }, 2)
  view.show({ event: 'progress', step: 'install_coreos', percent: 100 }, 3)
  expect(written).toMatch(/… deploy .*install_coreos: installing to \/dev\/sda .*100 %/)
  view.show({ event: 'state', provision_state: 'active', power_state: 'power on' }, 4)
  expect(written).toMatch(/… deploy .* active$/)
})
