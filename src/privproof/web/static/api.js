// Speaks to the server: JSON both ways, with the key of this page.

const key = document.querySelector("meta[name=privproof-key]").content;

async function exchange(path, settings = {}) {
  let response;
  try {
    response = await fetch(path, { ...settings, headers: { "X-Privproof-Key": key, ...settings.headers } });
  } catch {
    throw new Error("The server does not answer. Is privproof serve still running?");
  }
  const text = await response.text();
  let data = null;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error(text.trim() || `The server says ${response.status}.`);
  }
  if (!response.ok) throw new Error(data.problem || `The server says ${response.status}.`);
  return data;
}

export const get = (path) => exchange(path);

export const post = (path, data) =>
  exchange(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(data ?? {}) });
