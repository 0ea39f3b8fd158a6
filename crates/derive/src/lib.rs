//! `#[derive(Nest)]`: makes a struct of graph values a loop variable; errors name its fields (`p.j`).
//!
//! ```ignore
//! #[derive(Nest)]
//! struct Pair<'g> {
//!     j: Output<'g>,
//!     k: Output<'g>,
//! }
//! ```
//!
//! Every field must be a nest. The struct's first lifetime is that of the graph. The generated code refers to
//! the crate `millstream`; `#[nest(crate = path)]` names another path with the module `nest`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Data, DeriveInput, Error, Fields, GenericParam, Lifetime, LifetimeParam, Path, Result, parse_quote,
};

/// Implements `Nest` and `IntoNest` for a struct.
#[proc_macro_derive(Nest, attributes(nest))]
pub fn derive_nest(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let krate = crate_path(input)?;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(
            &input.ident,
            "only a struct can be a nest: which values it has must be known",
        ));
    };
    let mut generics = input.generics.clone();
    let graph = match generics.lifetimes().next() {
        Some(first) => first.lifetime.clone(),
        None => {
            let fresh = Lifetime::new("'__graph", proc_macro2::Span::call_site());
            generics.params.insert(0, GenericParam::Lifetime(LifetimeParam::new(fresh.clone())));
            fresh
        }
    };
    let types: Vec<_> = generics.type_params().map(|t| t.ident.clone()).collect();
    for ty in types {
        generics
            .make_where_clause()
            .predicates
            .push(parse_quote!(#ty: #krate::nest::Nest<#graph> + #krate::nest::IntoNest<#graph, Nest = #ty>));
    }
    let (impl_generics, _, bounds) = generics.split_for_impl();
    let (_, ty_generics, _) = input.generics.split_for_impl();
    let (name, title) = (&input.ident, input.ident.to_string());
    let fields: Vec<_> = data.fields.members().collect();
    let titles: Vec<String> = fields
        .iter()
        .map(|member| match member {
            syn::Member::Named(ident) => ident.to_string().trim_start_matches("r#").to_owned(),
            syn::Member::Unnamed(index) => index.index.to_string(),
        })
        .collect();
    let locals: Vec<_> = (0..fields.len()).map(|i| format_ident!("field_{i}")).collect();
    let build = match &data.fields {
        Fields::Unit => quote!(#name),
        _ => quote!(#name { #(#fields: #locals),* }),
    };
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics #krate::nest::Nest<#graph> for #name #ty_generics #bounds {
            fn structure(&self) -> #krate::nest::Structure {
                #krate::nest::Structure::Struct(
                    #title,
                    ::std::vec![#((#titles, #krate::nest::Nest::structure(&self.#fields))),*],
                )
            }
            fn flatten(&self, leaves: &mut ::std::vec::Vec<#krate::nest::Leaf<#graph>>) {
                let _ = &leaves;
                #(#krate::nest::Nest::flatten(&self.#fields, leaves);)*
            }
            fn rebuild(&self, values: &mut #krate::nest::Values<#graph>) -> #krate::nest::Result<Self> {
                let _ = &values;
                #(let #locals = #krate::nest::Nest::rebuild(&self.#fields, values)?;)*
                ::std::result::Result::Ok(#build)
            }
        }

        #[automatically_derived]
        impl #impl_generics #krate::nest::IntoNest<#graph> for #name #ty_generics #bounds {
            type Nest = Self;
            fn into_nest(self, cx: &#krate::nest::Converter<#graph, '_>) -> #krate::nest::Result<Self> {
                cx.pass(self)
            }
        }
    })
}

/// Returns the path of the crate with the trait: `#[nest(crate = path)]`, or `::millstream`.
fn crate_path(input: &DeriveInput) -> Result<Path> {
    let mut path: Path = parse_quote!(::millstream);
    for attr in input.attrs.iter().filter(|a| a.path().is_ident("nest")) {
        attr.parse_nested_meta(|meta| match meta.path.is_ident("crate") {
            true => {
                path = meta.value()?.call(Path::parse_mod_style)?;
                Ok(())
            }
            false => Err(meta.error("expected `crate = path`")),
        })?;
    }
    Ok(path)
}
