import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { createStagedLab } from '../../lab/index.js'
import { seededRandom, silent } from '../../base/runtime/index.js'
import { OPERATOR_SCENES, SCENE_IRONIC } from '../../test/kit/operator/operator-scenes.js'
import { OperatorStage, sceneImages, type OperatorRecord } from '../../test/kit/operator/operator-stage.js'
import { openKube } from '../../base/kubernetes/open-kube.js'
import { Behaviours } from '../../base/kubernetes/controllers/behaviours.js'
import { runBareMetalOperator } from './baremetal-operator.js'

/**
 * Records of baremetal-operator 02aa505: its controllers and its Ironic provisioner, which worked over the API that
 * `ironstage up --kube-api` serves, on the same labs and through the same scenes as the actor here. Objects have the
 * defaults of their kind and no nulls of absent fields, as an API server keeps them.
 */
const RECORDS = new URL('../../test/fixtures/baremetal-operator/', import.meta.url)

const RENEW = 'npx jiti test/kit/operator/record-scenes.ts PROGRAM'
const images = await sceneImages()

test.each(Object.keys(OPERATOR_SCENES))(
  '%s: the calls, states and objects are those of the real operator',
  async (name) => {
    const { lab: options, play } = OPERATOR_SCENES[name]!
    await using lab = await createStagedLab({ ironic: SCENE_IRONIC, ...options })
    const { clock } = lab
    const random = seededRandom(1)
    const { client: kube } = openKube({ clock, random })
    await using stage = await OperatorStage.open({ lab, kube, images })
    const parts = { kube, clock, random, logger: silent, behaviours: new Behaviours([]), announce: () => {} }
    const onCall = stage.called
    await using _operator = runBareMetalOperator({
      ...parts,
      ironic: lab,
      calls: { onCall: ({ method, path, body }) => onCall({ method, path, body }) },
    })
    await play(stage)
    const file = new URL(`${name.replaceAll(' ', '-')}.json`, RECORDS)
    const recorded = JSON.parse(await readFile(file, 'utf8')) as OperatorRecord
    const made = JSON.parse(JSON.stringify(await stage.record())) as OperatorRecord
    expect(made, `where the real operator has changed, ${RENEW} "${name}" renews the record`).toEqual(recorded)
  },
)
