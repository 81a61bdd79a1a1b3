/* Sends <form data-intake="SOURCE"> to the receiver that serves this script: once, and with an honest word.
   Without JavaScript, or with files in it, it stays a plain form. */
(() => {
'use strict';
const place = document.currentScript?.src.match(/^(.*)\/snippet\/([a-z0-9-]+)\.js(?:[?#].*)?$/);
if (!place) return;
const [, base, source] = place;
const TRIES = 8, TIMEOUT = 15000, LONGEST_PAUSE = 30000; // milliseconds
const TEXTS = {
  es: {
    sending: 'Enviando…',
    waiting: 'Sin respuesta aún. Seguimos intentando; no cierre la página.',
    received: 'Recibimos su mensaje.',
    empty: 'Complete el formulario antes de enviarlo.',
    refused: 'No pudimos recibir su mensaje. Por favor, contáctenos por otro medio.',
    unknown: 'No sabemos si su mensaje llegó. Si lo envía otra vez sin cambios, no se duplicará.',
  },
  en: {
    sending: 'Sending…',
    waiting: 'No answer yet. We keep trying; please keep this page open.',
    received: 'We received your message.',
    empty: 'Please fill in the form before you send it.',
    refused: 'We could not receive your message. Please contact us another way.',
    unknown: 'We do not know if your message arrived. Sent again unchanged, it will not be doubled.',
  },
};

// The last key: kept over a refresh, or in memory where nothing may be stored.
const memory = {};

function load(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name)) || memory[name];
  } catch { return memory[name]; }
}

function save(name, state) {
  memory[name] = state;
  try { sessionStorage.setItem(name, JSON.stringify(state)); } catch { }
}

function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');
}

// Tells two contents apart without storing either.
function digest(text) {
  let a = 0xdeadbeef, b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 2654435761);
    b = Math.imul(b ^ text.charCodeAt(i), 1597334677) ^ (a >>> 15);
  }
  return [a >>> 0, b >>> 0].join();
}

function content(form, button) {
  const data = new FormData(form), found = Object.create(null);
  if (button?.name) data.append(button.name, button.value);
  data.forEach((value, name) => { found[name] = name in found ? [].concat(found[name], value) : value; });
  new URLSearchParams(location.search).forEach((value, name) => {
    if (/^(utm_[a-z]+|gclid|fbclid)$/.test(name) && !(name in found)) found[name] = value;
  });
  return JSON.stringify(found);
}

async function ask(body, key) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), TIMEOUT);
  try {
    const answer = await fetch(`${base}/hooks/${source}`, {
      method: 'POST', body, signal: stop.signal, credentials: 'omit', redirect: 'error',
      keepalive: body.length < 16000, // goes on when the page is left
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
    });
    const after = answer.headers.get('Retry-After') * 1000 || 0;
    return { status: answer.status, after, said: await answer.json().catch(() => 0) || {} };
  } catch {
    return { status: 0, after: 0, said: {} };
  } finally { clearTimeout(timer); }
}

// null: not settled
function judged({ status, said }) {
  if (status >= 400) return status >= 500 || [408, 409, 425, 429].includes(status) ? null : 'refused';
  return said.received !== true ? null : said.events?.length || said.quarantined ? 'received' : 'empty';
}

async function deliver(body, key, tell) {
  for (let n = 0; n < TRIES; n++) {
    while (navigator.onLine === false) {
      tell('waiting');
      await new Promise((go) => addEventListener('online', go, { once: true }));
    }
    const answer = await ask(body, key), word = judged(answer);
    if (word) return { word, events: (answer.said.events || []).map((e) => e.event_id) };
    tell('waiting');
    const pause = answer.after + Math.random() * Math.min(LONGEST_PAUSE, 1000 * 2 ** n);
    if (n + 1 < TRIES) await new Promise((go) => setTimeout(go, pause));
  }
  return { word: 'unknown', events: [] };
}

function trap(form) {
  if (form.elements.intake_homepage) return;
  const cover = document.createElement('span'), input = document.createElement('input');
  cover.hidden = true;
  Object.assign(input, { name: 'intake_homepage', tabIndex: -1, autocomplete: 'off' });
  cover.append(input);
  form.append(cover);
}

function attach(form, number) {
  if (form.querySelector('input[type=file]')) return;
  const name = `intake:${source}:${form.id || number}`;
  const status = form.querySelector('[data-intake-status]') || form.appendChild(document.createElement('p'));
  status.setAttribute('role', 'status');
  status.setAttribute('aria-live', 'polite');
  const language = form.closest('[lang]')?.lang || '';
  const tell = (word) => { status.textContent = TEXTS[/^en\b/i.test(language) ? 'en' : 'es'][word]; };
  let busy = false;
  trap(form);
  if (load(name)?.open) tell('unknown');

  form.addEventListener('submit', async (event) => {
    if (event.defaultPrevented) return;
    event.preventDefault();
    if (busy) return;
    busy = true;
    const body = content(form, event.submitter), mark = digest(body), focused = document.activeElement;
    let state = load(name);
    if (state?.mark !== mark) state = { key: newKey(), mark };
    save(name, { ...state, open: true });
    tell('sending');
    const buttons = [...form.elements].filter((b) => b.type === 'submit' && !b.disabled);
    buttons.forEach((b) => { b.disabled = true; });
    const { word, events } = await deliver(body, state.key, tell);
    save(name, { ...state, open: word === 'unknown' });
    buttons.forEach((b) => { b.disabled = false; });
    if (buttons.includes(focused)) focused.focus();
    busy = false;
    tell(word);
    form.dispatchEvent(new CustomEvent('intake', { bubbles: true, detail: { result: word, events } }));
  });
}

const start = () => document.querySelectorAll(`form[data-intake="${source}"]`).forEach(attach);
if (document.readyState === 'loading') addEventListener('DOMContentLoaded', start);
else start();
})();
