// Pictures to try the page with. Each is what `kubectl gc -o html` could write.
import type { Section } from '../src/data.ts';
import type { Fate, KubeObject, Link, Picture, Row, View } from './columns.ts';

const CREATED = '2026-11-02T09:00:00Z';

/** As src/render/states.rs has them: only their order and their names matter here. */
const STATES: Picture['states'] = [
  'stuck', 'error', 'depends', 'waits', 'unsure', 'warning', 'later', 'deleted', 'missing', 'kept', 'note', 'untouched',
].map((name, at) => ({
  name, symbol: '■▲◊○?▲»×□●▲·'[at]!, word: name, meaning: `is ${name}`,
  tone: ['error', 'error', 'warning', 'warning', 'warning', 'warning', 'later', 'plain', 'quiet', 'good', 'quiet', 'quiet'][at]!,
}));

export function picture(part: Partial<Picture>): Picture {
  return {
    kind: 'Plan', title: 'Plan: delete', source: 'Dump test.yaml.', objects: [], links: [], views: [], shown: 0,
    states: STATES, ...part,
  };
}

export function object(kind: string, name: string, more: Partial<KubeObject> = {}): KubeObject {
  return { apiVersion: 'v1', kind, namespace: 'shop', name, created: CREATED, ...more };
}

/** Commands of a story. */
export const DRAIN = [
  'kubectl get pods/web-6d5f8c7b94-x2lqp -n shop -o yaml',
  'kubectl patch pods/web-6d5f8c7b94-x2lqp -n shop --type=json ' +
    '-p \'[{"op":"remove","path":"/metadata/finalizers/0"}]\'',
];

type Ending = [fate: Fate, word: string, detail?: string];

/** The example shop: what a delete of its Deployment web does, with each policy. */
export function shop(): Picture {
  const objects: KubeObject[] = [
    object('Deployment', 'web', { apiVersion: 'apps/v1', created: '2026-10-01T08:15:00Z' }),
    object('ConfigMap', 'web-dashboard', { namespace: 'elsewhere' }),
    object('ConfigMap', 'shop-settings'),
    object('ReplicaSet', 'web-5b9c6fd4c8', { apiVersion: 'apps/v1', created: '2026-10-01T08:15:01Z' }),
    object('ReplicaSet', 'web-6d5f8c7b94', { apiVersion: 'apps/v1', created: '2026-11-20T17:30:00Z' }),
    object('Pod', 'web-6d5f8c7b94-x2lqp', { finalizers: ['acme.io/drain'], created: '2026-11-20T17:30:04Z' }),
    object('Pod', 'web-6d5f8c7b94-8kqzn', { created: '2026-11-20T17:30:02Z' }),
    object('Pod', 'web-6d5f8c7b94-tm4vd', { created: '2026-11-20T17:30:03Z' }),
    object('ReplicaSet', 'web-7f4d9b8c6d', { apiVersion: 'apps/v1' }),
    object('Deployment', 'api', { apiVersion: 'apps/v1' }),
    object('Shop', 'main', { apiVersion: 'acme.io/v1', created: '2026-09-12T10:00:00Z' }),
  ];
  const controls = { controller: true, blocks: true };
  const links: Link[] = [
    { dependent: 0, owner: 10, ...controls },
    { dependent: 1, owner: 0, invalid: 'invalid: owner in another namespace' },
    { dependent: 2, owner: 9 },
    { dependent: 2, owner: 0 },
    { dependent: 3, owner: 0, ...controls },
    { dependent: 4, owner: 0, ...controls },
    { dependent: 5, owner: 4, ...controls },
    { dependent: 6, owner: 4, ...controls },
    { dependent: 7, owner: 4, ...controls },
    { dependent: 8, owner: 0, ...controls },
  ];
  const parents = [undefined, 0, 0, 0, 0, 4, 4, 4, 0];
  const drain: Section[] = [
    { label: 'Why', lines: ['finalizer acme.io/drain: no controller is known for it'] },
    { label: 'Next', lines: DRAIN, commands: DRAIN },
  ];
  const rows = (endings: Ending[]): Row[] => endings.map(([fate, word, detail], at) => ({
    object: at, title: `${objects[at]!.kind}/${objects[at]!.name}${at === 1 ? ' -n elsewhere' : ''}`, fate, word,
    ...(parents[at] === undefined ? {} : { parent: parents[at]! }),
    ...(detail === undefined ? {} : { detail }),
    ...(at === 5 ? {
      story: drain,
    } : {}),
  }));
  const sections: Section[] = [
    { label: 'Lost', lines: [
      'Pod/web-6d5f8c7b94-x2lqp: effect unknown: the controller that removes acme.io/drain may also change something ' +
      'outside the cluster'] },
    { label: 'Then', lines: ['Shop/main is not deleted and may recreate 1 of these'] },
    { label: 'Note', lines: ['the kubelets on nodes worker-1 and worker-2 end their pods after their grace period'] },
    { label: 'Next', lines: [
      'check that the controller that removes acme.io/drain is running (Pod/web-6d5f8c7b94-x2lqp has this ' +
      'finalizer), then plan again'] },
  ];
  const gone: Ending = ['deleted', 'deleted'];
  const grace: Ending = ['deleted', 'deleted', 'after its grace period, 30s'];
  const stuck: Ending = ['stuck', 'STUCK', 'finalizer acme.io/drain'];
  const shared: Ending = ['kept', 'kept', 'still owned by Deployment/api; reference to Deployment/web removed'];
  const stray: Ending = ['deleted', 'deleted', 'owner in another namespace: treated as gone'];
  const waits = (what: string): Ending => ['stuck', 'STUCK', `waits for ${what}`];
  const freed: Ending = ['kept', 'kept', 'no owner left'];
  return picture({
    title: 'Plan: delete deployment/web, background', source: 'Dump examples/shop.yaml, namespace shop.', objects, links,
    views: [
      {
        name: 'background', sections,
        reasons: '1 object stays Terminating because of the finalizer acme.io/drain',
        facts: [{ label: 'Goes', lines: ['3 ReplicaSets, 2 Pods, 1 Deployment, 1 ConfigMap'] }],
        verdict: { fate: 'stuck', word: 'STUCK', sentence: '7 of 8 objects are deleted, 1 stays Terminating because of ' +
          'the finalizer acme.io/drain. 1 survives with changed owner references.' },
        rows: rows([gone, stray, shared, gone, gone, stuck, grace, grace, gone]),
      },
      {
        name: 'foreground', sections,
        reasons: '3 objects stay Terminating because of the finalizer acme.io/drain', waits: [[0, 4], [4, 5]],
        facts: [{ label: 'Goes', lines: ['2 Pods, 2 ReplicaSets, 1 ConfigMap'] }],
        verdict: { fate: 'stuck', word: 'STUCK', sentence: '5 of 8 objects are deleted, 3 stay Terminating because of ' +
          'the finalizer acme.io/drain. 1 survives with fewer owners.' },
        rows: rows([waits('ReplicaSet/web-6d5f8c7b94'), stray, shared, gone, waits('Pod/web-6d5f8c7b94-x2lqp'), stuck,
          grace, grace, gone]),
      },
      {
        name: 'orphan',
        verdict: { fate: 'deleted', word: '', sentence: '1 object is deleted. 4 survive without an owner, 1 with fewer ' +
          'owners.' },
        // Nothing below what is freed is touched: it has no row.
        rows: rows([gone, freed, shared, freed, freed, freed, freed, freed, freed])
          .filter((row) => row.parent !== 4),
      },
    ],
  });
}

/** A large cluster: Deployments with ReplicaSets and Pods, two policies. */
export function many(size: number): Picture {
  const objects: KubeObject[] = [];
  const links: Link[] = [];
  const parents: (number | undefined)[] = [];
  const put = (kind: string, name: string, parent: number | undefined, more: Partial<KubeObject> = {}): number => {
    const at = objects.length;
    const seconds = String(at % 60).padStart(2, '0');
    objects.push(object(kind, name, {
      namespace: `team-${Math.floor(at / 200) % 25}`, created: `2026-11-${String(1 + (at % 28)).padStart(2, '0')}T10:00:${seconds}Z`,
      ...more,
    }));
    parents.push(parent);
    if (parent !== undefined) links.push({ dependent: at, owner: parent, controller: true, blocks: true });
    return at;
  };
  const shopObject = put('Shop', 'main', undefined, { apiVersion: 'acme.io/v1' });
  while (objects.length < size) {
    const name = `app-${objects.length}`;
    const deployment = put('Deployment', name, shopObject, { apiVersion: 'apps/v1' });
    const replicas = put('ReplicaSet', `${name}-5b9c6fd4c8`, deployment, { apiVersion: 'apps/v1' });
    for (let pod = 0; pod < 18 && objects.length < size; pod++) put('Pod', `${name}-5b9c6fd4c8-${pod}`, replicas);
  }
  const view = (name: string, ends: (at: number) => [Fate, string]): View => ({
    name,
    verdict: { fate: 'stuck', word: 'STUCK', sentence: `${size} objects: some stay Terminating.` },
    rows: objects.map((object, at) => {
      const [fate, word] = ends(at);
      return {
        object: at, title: `${object.kind}/${object.name}`, fate, word, detail: `line ${at}`,
        ...(parents[at] === undefined ? {} : { parent: parents[at]! }),
        story: [{ label: 'Why', lines: [`of object ${at}`] }],
      };
    }),
  });
  return picture({
    title: `Plan: delete shop/main, ${size} objects`, objects, links,
    views: [
      view('background', (at) => (at % 1000 === 999 ? ['stuck', 'STUCK'] : ['deleted', 'deleted'])),
      view('foreground', (at) => (at % 500 === 499 ? ['stuck', 'STUCK'] : ['deleted', 'deleted'])),
    ],
  });
}

/** Each object owns the next one. */
export function chain(size: number): Picture {
  const objects = Array.from({ length: size }, (_, at) => object('ConfigMap', `link-${at}`));
  return picture({
    title: `Tree: ${size} owners in a chain`, kind: 'Tree', objects,
    links: objects.slice(1).map((_, at) => ({ dependent: at + 1, owner: at })),
    views: [{ name: '', rows: objects.map((object, at) => ({
      object: at, title: `ConfigMap/${object.name}`, fate: 'untouched', ...(at > 0 ? { parent: at - 1 } : {}),
    })) }],
  });
}

/** One owner with very many similar dependents. */
export function siblings(size: number): Picture {
  const objects = [object('Job', 'import'), ...Array.from({ length: size }, (_, at) => object('Pod', `import-${at}`))];
  return picture({
    title: `Plan: ${size} siblings`, objects,
    links: objects.slice(1).map((_, at) => ({ dependent: at + 1, owner: 0, controller: true })),
    views: [{ name: '', rows: objects.map((object, at) => ({
      object: at, title: `${object.kind}/${object.name}`, fate: at === size ? 'stuck' : 'deleted',
      word: at === size ? 'STUCK' : 'deleted', ...(at > 0 ? { parent: 0 } : {}),
    })) }],
  });
}

/** Owners that own each other, and one that owns itself. */
export function cycle(): Picture {
  const objects = [object('Secret', 'key'), object('Secret', 'certificate'), object('ConfigMap', 'self')];
  return picture({
    title: 'Tree: a cycle', kind: 'Tree', objects,
    links: [
      { dependent: 1, owner: 0 }, { dependent: 0, owner: 1, closesCycle: true },
      { dependent: 2, owner: 2, closesCycle: true },
    ],
    views: [{ name: '', rows: [
      { object: 0, title: 'Secret/key', fate: 'untouched' },
      { object: 1, title: 'Secret/certificate', fate: 'untouched', parent: 0 },
      { object: 0, title: 'Secret/key', fate: 'untouched', parent: 1, detail: 'closes a cycle, see above', points: true },
      { object: 2, title: 'ConfigMap/self', fate: 'untouched', detail: 'owns itself' },
    ] }],
  });
}

export const HOSTILE = [
  '<script>document.title="owned"</script>', '</script><img src=x onerror=alert(1)>', '"><svg onload=alert(1)>',
  'javascript:alert(1)', '{{PICTURE}}', '\u202egnp.exe', 'a\u0000b\u001b[31mred\u0007', 'line\nbreak\ttab',
  '\u200bnothing\u2066', '&lt;b&gt;&amp;', "'; --`${document.title}`", '$& $1 $$', 'é́́́́́', '字'.repeat(60), 'x'.repeat(5000),
  '__proto__', 'constructor', '-1', '\ud800lone', '\u2028\u2029',
];

/** Names that would do harm if they were taken for anything but text. */
export function hostile(): Picture {
  const objects = HOSTILE.map((name) => object(name, name, {
    apiVersion: name, namespace: name, created: name, finalizers: [name, name],
  }));
  const sections = [{ label: HOSTILE[0]!, lines: HOSTILE, commands: HOSTILE.slice(1, 4) }];
  return picture({
    kind: HOSTILE[0]!, title: HOSTILE.join(' '), source: HOSTILE.slice(0, 8).join(' '), objects,
    links: objects.map((_, at) => ({ dependent: at, owner: (at + 1) % objects.length, invalid: HOSTILE[at]!, blocks: true })),
    views: HOSTILE.slice(0, 3).map((name) => ({
      name, sections, facts: sections, reasons: name, waits: [[0, 1]] as [number, number][],
      verdict: { fate: 'unsure', word: name, sentence: HOSTILE.join(' ') },
      rows: objects.map((object, at) => ({
        object: at, title: `${object.kind}/${object.name}`, fate: 'unsure', word: object.name,
        detail: object.name, story: sections, ...(at % 3 > 0 ? { parent: at - 1 } : {}),
      })),
    })),
  });
}

/** An object with two owners: its row stands deep, and a line higher up points to it. */
export function shared(): Picture {
  const objects = ['a', 'b', 'c', 'shared', 'below'].map((name) => object('ConfigMap', name));
  const rows: Row[] = [
    { object: 0, title: 'ConfigMap/a', fate: 'untouched' },
    { object: 1, title: 'ConfigMap/b', fate: 'untouched', parent: 0 },
    { object: 3, title: 'ConfigMap/shared', fate: 'untouched', parent: 1 },
    { object: 4, title: 'ConfigMap/below', fate: 'untouched', parent: 2 },
    { object: 2, title: 'ConfigMap/c', fate: 'untouched' },
    { object: 3, title: 'ConfigMap/shared', fate: 'untouched', parent: 4, detail: 'see above', points: true },
  ];
  return picture({
    title: 'Tree: two owners', kind: 'Tree', objects, views: [{ name: '', rows }],
    links: [
      { dependent: 1, owner: 0 }, { dependent: 3, owner: 1 }, { dependent: 3, owner: 2 }, { dependent: 4, owner: 3 },
    ],
  });
}

const REMEDY = 'kubectl delete configmaps/api-dashboard -n elsewhere --cascade=background';

/** Findings of the doctor: lines that are no objects, with objects below them. */
export function findings(): Picture {
  const objects = [
    object('ConfigMap', 'api-dashboard', { namespace: 'elsewhere' }),
    object('ReplicaSet', 'web-6d5f8c7b94', { apiVersion: 'apps/v1' }),
    object('Deployment', 'web', { apiVersion: 'apps/v1', virtual: true }),
    object('CronJob', 'backup', { apiVersion: 'batch/v1', terminating: true, finalizers: ['foregroundDeletion'] }),
    object('Deployment', 'api', { apiVersion: 'apps/v1' }),
  ];
  return picture({
    kind: 'Diagnosis', title: 'Doctor', source: 'Dump examples/leftovers.yaml, all namespaces. Read: 21 objects of 10 kinds.',
    objects,
    links: [
      { dependent: 0, owner: 4, invalid: 'owner in another namespace' }, { dependent: 1, owner: 2, controller: true },
    ],
    views: [{
      name: '', verdict: { fate: 'error', word: '', sentence: '1 error, 1 warning, 1 note.' },
      rows: [
        { title: 'owner-other-namespace', fate: 'error', word: 'ERROR',
          detail: 'The owner Deployment/api in namespace shop is in another namespace; owners must be in the same ' +
            'namespace or cluster-scoped.',
          story: [
            { label: 'Then', lines: ['The collector will delete it.'] },
            { label: 'Next', lines: ['delete it, as the collector would', REMEDY], commands: [REMEDY] },
          ] },
        { object: 0, title: 'ConfigMap/api-dashboard -n elsewhere', fate: 'deleted', word: '', parent: 0 },
        { title: 'owner-absent', fate: 'warning', word: 'WARNING',
          detail: 'The owner apps/v1 Deployment/web no longer exists in namespace shop.' },
        { object: 1, title: 'ReplicaSet/web-6d5f8c7b94', fate: 'deleted', word: '', parent: 2 },
        { object: 2, title: 'Deployment/web', fate: 'missing', word: 'does not exist', parent: 2 },
        { title: 'deletion-in-progress', fate: 'note', word: 'NOTE', detail: 'Terminating for 0s. It waits for a Job.' },
        { object: 3, title: 'CronJob/backup', fate: 'waits', word: '', parent: 5 },
      ],
    }],
  });
}

export function empty(): Picture {
  return picture({ title: 'Tree of nothing', kind: 'Tree', views: [{ name: '', rows: [] }] });
}
