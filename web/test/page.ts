// Makes a page of a picture as Rust does, and opens it in Chromium.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { columns, type Picture } from './columns.ts';

const TEMPLATE = readFileSync('../src/render/html/page.html', 'utf8');

/** What the page says where no script runs. */
export const TEXT = 'STUCK: the text of the command.';

/** Where distributions have it. */
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The page of a picture; as Rust, packed if that is asked for. */
export function html(picture: Picture, isPacked = false): string {
  const json = JSON.stringify(columns(picture)).replace(/[<>&\p{C}\p{Zl}\p{Zp}]/gu, (c) => Array.from(
    { length: c.length }, (_, at) => `\\u${c.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''));
  const title = picture.title.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);
  // In one pass: a title may itself say {{PICTURE}}.
  const parts: Record<string, string> = {
    TITLE: title, TEXT, TYPE: isPacked ? 'application/gzip' : 'application/json',
    PICTURE: isPacked ? gzipSync(json).toString('base64') : json,
  };
  return TEMPLATE.replace(/\{\{(TITLE|TEXT|TYPE|PICTURE)\}\}/g, (_, part: string) => parts[part]!);
}

/** All that the page says, without the white space between its elements. */
export function said(page: Page): Promise<string> {
  return page.evaluate(() => {
    const walker = document.createTreeWalker(document.getElementById('page')!, NodeFilter.SHOW_TEXT);
    const texts: string[] = [];
    while (walker.nextNode()) texts.push(walker.currentNode.textContent ?? '');
    return texts.filter((text) => text.trim() !== '').join(' ');
  });
}

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? BROWSERS.find((path) => existsSync(path)) ?? BROWSERS[0]!,
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync',
    ],
  });
}

/** A page in a browser, and everything that it must not do. */
export interface Opened {
  page: Page;
  file: string;
  /** Errors, warnings, and requests besides that for the file itself. */
  complaints: string[];
  close(): Promise<void>;
}

export async function open(browser: Browser, content: Picture | string, options: BrowserContextOptions = {},
  hash = ''): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'page-'));
  const file = join(folder, 'page.html');
  writeFileSync(file, typeof content === 'string' ? content : html(content));
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(8_000);
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const address = pathToFileURL(file).href;
  context.on('request', (request) => {
    if (request.url().split('#')[0] !== address) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(address + hash, { waitUntil: 'load' });
  return {
    page, file, complaints,
    async close() {
      await context.close();
      rmSync(folder, { recursive: true });
    },
  };
}
