import {
  Behaviours,
  openKube,
  type ActorParts,
  type Behaviour,
  type ClusterEra,
  type KubeKind,
  type KubeKinds,
  type ActorNotice,
} from '../../../base/kubernetes/index.js'
import { hours, seededRandom, silent, VirtualClock } from '../../../base/runtime/index.js'
import { watchUntil } from './watch-until.js'

const SCENE_TIMEOUT = hours(12)

/** A Kubernetes API on a virtual clock, with what actors need around it. */
export function clusterScene({
  all = [],
  without = [],
  as = 'document',
}: { all?: readonly Behaviour[]; without?: readonly string[]; as?: ClusterEra } = {}) {
  const clock = new VirtualClock()
  const random = seededRandom(7)
  const { client: kube } = openKube({ clock, random })
  const notices: ActorNotice[] = []
  const parts: ActorParts = {
    kube,
    clock,
    random,
    logger: silent,
    behaviours: new Behaviours(all, { without, as }),
    announce: (notice) => void notices.push(notice),
  }
  /** Waits in lab time until an object is as it should be. */
  const until = async <K extends KubeKind>(
    kind: K,
    name: string,
    holds: (object: KubeKinds[K]) => boolean,
    namespace?: string,
  ): Promise<KubeKinds[K]> => {
    const ending = new AbortController()
    const { signal } = ending
    const seen = watchUntil(kube, kind, { name, namespace, signal }, holds)
    const late = clock.sleep(SCENE_TIMEOUT, { signal: ending.signal }).then(
      () => Promise.reject(new Error(`${kind} ${name} is not so within twelve hours`)),
      () => seen,
    )
    try {
      return await clock.until(Promise.race([seen, late]))
    } finally {
      ending.abort()
    }
  }
  return {
    clock,
    random,
    kube,
    parts,
    notices,
    until,
    said: () => notices.map(({ does, because }) => (because === undefined ? does : `${does}: ${because}`)),
  }
}
