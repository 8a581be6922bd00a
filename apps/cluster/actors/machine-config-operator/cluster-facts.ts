import type { KubeClient } from '../../../../base/kubernetes/index.js'
import { OS_IMAGE } from './machine-config-names.js'

/** The release of the operator: its ConfigMap comes with it. Undefined before there is one. */
export const releaseOfOperator = async (kube: KubeClient): Promise<string | undefined> =>
  (await kube.find('ConfigMap', OS_IMAGE))?.data?.['releaseVersion']

/** Platform of the cluster: `BareMetal`; `None` where the cluster does not say it. */
export const platformOf = async (kube: KubeClient): Promise<string> =>
  (await kube.find('Infrastructure', { name: 'cluster' }))?.status?.platformStatus?.type ?? 'None'
