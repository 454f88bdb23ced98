//! What is asked for on the command line.

use anyhow::{Context, bail, ensure};

const USAGE: &str =
    "usage: throughput [--engine single|batch] [--limit N] [--repeat N] [--message N] [--alone] FILE...
       throughput --compare [--limit 1|2] [--repeat N] FILE...";

#[derive(Debug)]
pub struct Options {
    pub engine: String,
    pub limit: usize,
    pub repeat: usize,
    pub message: usize,
    pub alone: bool,
    pub compare: bool,
    pub files: Vec<String>,
}

impl Options {
    pub fn parse(mut args: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut options = Self {
            engine: "single".into(),
            limit: 2,
            repeat: 1,
            message: 256,
            alone: false,
            compare: false,
            files: Vec::new(),
        };
        while let Some(arg) = args.next() {
            let mut value = || {
                args.next()
                    .with_context(|| format!("{arg} needs a value\n{USAGE}"))
            };
            match arg.as_str() {
                "--engine" => options.engine = value()?,
                "--limit" => options.limit = positive(&arg, &value()?)?,
                "--message" => options.message = positive(&arg, &value()?)?,
                "--alone" => options.alone = true,
                "--compare" => options.compare = true,
                "--repeat" => options.repeat = positive(&arg, &value()?)?,
                _ if arg.starts_with("--") => bail!("unknown option {arg}\n{USAGE}"),
                _ => options.files.push(arg),
            }
        }
        let engine = options.engine.as_str();
        ensure!(
            matches!(engine, "single" | "batch"),
            "--engine {engine}: expected single or batch"
        );
        ensure!(
            !options.compare || options.limit <= 2,
            "--compare: the batch engine looks for two solutions at most"
        );
        ensure!(!options.files.is_empty(), "no file named\n{USAGE}");
        Ok(options)
    }
}

fn positive(option: &str, text: &str) -> anyhow::Result<usize> {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.with_context(|| format!("{option} {text}: expected a number from 1"))
}
